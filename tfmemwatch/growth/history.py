"""How something went, in a bounded number of points, over any length of time: for a plot."""

from __future__ import annotations

from collections import deque
from typing import Deque, Generic, List, Sequence, Tuple, TypeVar

_MOST = 32
_RECENT, _SCALES, _FAN = 120, 5, 4  # values of each scale; scales; of so many values that leave a scale one goes on
_BARS = "▁▂▃▄▅▆▇█"
Value = TypeVar("Value")


class History(Generic[Value]):
    """At most so many values, evenly spread over all that were given."""

    __slots__ = ("_each", "_left", "_most", "_values")

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._values: List[Value] = []
        self._each = 1  # of so many values one is kept
        self._left = 1

    @property
    def is_due(self) -> bool:
        """Whether the next value is kept."""
        return self._left <= 1

    def add(self, value: Value) -> None:
        """Take the next value."""
        self._left -= 1
        if self._left:
            return
        self._left = self._each
        self._values.append(value)
        if len(self._values) >= self._most:
            del self._values[1::2]
            self._each *= 2
            self._left = self._each

    @property
    def values(self) -> Tuple[Value, ...]:
        """What was kept, the earliest first."""
        return tuple(self._values)


class Timeline(Generic[Value]):
    """All of the last values, and ever fewer of those before them: a still minute and a month in 720 at most."""

    __slots__ = ("_left", "_scales", "_since_the_beginning")

    def __init__(self) -> None:
        self._scales: List[Deque[Value]] = [deque() for _ in range(_SCALES)]
        self._left = [0] * _SCALES  # how many have left each scale
        self._since_the_beginning: History[Value] = History(_RECENT)

    @property
    def is_due(self) -> bool:
        """Whether the next value is kept: each is, at first."""
        return True

    def add(self, value: Value) -> None:
        """Take the next value."""
        for number, scale in enumerate(self._scales):
            scale.append(value)
            if len(scale) <= _RECENT:
                return
            value = scale.popleft()
            self._left[number] += 1
            if self._left[number] % _FAN != 1:
                return
        self._since_the_beginning.add(value)

    @property
    def values(self) -> Tuple[Value, ...]:
        """What was kept, the earliest first."""
        recent = [value for scale in reversed(self._scales) for value in list(scale)]
        return (*self._since_the_beginning.values, *recent)


def plot(values: Sequence[float], wide: int = 16) -> str:
    """`▁▂▃▄▅▆▇█`; nothing where there is nothing to see."""
    if len(values) < 3 or min(values) == max(values):
        return ""
    count = min(wide, len(values))
    picked = [values[index * (len(values) - 1) // (count - 1)] for index in range(count)]
    low, high = min(picked), max(picked)
    return "".join(_BARS[int((value - low) / (high - low or 1) * (len(_BARS) - 1) + 0.5)] for value in picked)
