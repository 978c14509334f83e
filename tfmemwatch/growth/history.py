"""How a count went, in a few points: for a small plot of any length of time."""

from __future__ import annotations

from typing import Generic, List, Sequence, Tuple, TypeVar

_MOST = 32
_BARS = "▁▂▃▄▅▆▇█"
Value = TypeVar("Value")


class History(Generic[Value]):
    """At most so many values, evenly spread over all that were given."""

    __slots__ = ("_each", "_left", "_values")

    def __init__(self) -> None:
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
        if len(self._values) >= _MOST:
            del self._values[1::2]
            self._each *= 2
            self._left = self._each

    @property
    def values(self) -> Tuple[Value, ...]:
        """What was kept, the earliest first."""
        return tuple(self._values)


def plot(values: Sequence[float], wide: int = 16) -> str:
    """`▁▂▃▄▅▆▇█`; nothing where there is nothing to see."""
    if len(values) < 3 or min(values) == max(values):
        return ""
    count = min(wide, len(values))
    picked = [values[index * (len(values) - 1) // (count - 1)] for index in range(count)]
    low, high = min(picked), max(picked)
    return "".join(_BARS[int((value - low) / (high - low or 1) * (len(_BARS) - 1) + 0.5)] for value in picked)
