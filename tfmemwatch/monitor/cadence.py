"""How often to look: as often as what is at stake asks. Knows no clock and no process: values in, a pause out.

A leak is to be named before it has used up a fifth of the memory that was free when it began, and evidence takes some
100 looks. So these must fit into the time in which a tenth is used up at the present pace. While all stands still, or
what is left would last for hours, the longest pause will do. Between such looks there are glances, which are as seldom
as two in the longest pause where memory has not risen for some seconds by what would matter.
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

_LEAST_SECONDS = 0.05
_FINER = 100  # times: the shortest pause, as a part of the longest
_GLANCE = 10  # times the shortest pause: from one glance to the next, while memory may rise
_SELDOM = 5  # times as long, where it has stood still
_SLOWER = 1.25  # times as long from glance to glance, while it stands still
_STILL = 0.005  # of what is left: what rises by less stands still
_SHARE = 0.1  # of what is left: while it is used up, evidence is taken
_LOOKS = 100  # that evidence takes, and a little more; with many more there would be too few steps of the leak in them
_SCALES = 4  # lengths of floor, each four times the one before
_FAN = 4
_FLOORS = 4  # in a row that must rise
_SAMPLES = 3  # that make a floor
_PATIENCE_SECONDS, _MOST_PATIENCE_SECONDS = 60.0, 3600.0  # for which a scale that was wrong is not believed
_LEAST_RISE = 1 << 20  # bytes: below it a process stands still, on any machine


class _Floors:
    """The least that was in use, from one stretch of time to the next."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = -float("inf")
        self._least = float("inf")
        self._closed: List[Tuple[float, float]] = []  # when, and how much

    def add(self, now: float, used: float) -> Optional[float]:
        """Take one reading; the floor that it closes, if it does."""
        least = self._least = min(self._least, used)
        if now - self._began < 0.99 * self.seconds:
            return None
        self._closed = [*self._closed[1 - _FLOORS :], (now, least)]
        self._began, self._least = now, float("inf")
        return least

    @property
    def slope(self) -> Tuple[float, float]:
        """How fast they rise, in bytes a second, and since when; 0 where they do not."""
        floors = self._closed
        if len(floors) < _FLOORS or any(after[1] <= before[1] for before, after in zip(floors, floors[1:])):
            return 0.0, 0.0
        if floors[-1][1] - floors[0][1] < _LEAST_RISE:
            return 0.0, 0.0
        (began, low), (last, high) = floors[1], floors[-1]  # it may have begun anywhere between the first two
        return (high - low) / (last - began), began


class Rise(NamedTuple):
    """Memory that rises so fast that more looks are needed."""

    pause_seconds: float  # between two of them
    bytes_a_look: float  # by which it would rise in each
    scale: int  # on which it was seen
    since: float = 0.0


class Cadence:
    """Takes what the process holds, from glance to glance; says how long to pause between two looks."""

    def __init__(self, longest_seconds: float) -> None:
        self.longest_seconds = longest_seconds
        self._shortest = min(longest_seconds, max(_LEAST_SECONDS, longest_seconds / _FINER))
        self._close = min(longest_seconds, _GLANCE * self._shortest)  # from one glance to the next
        self._seldom = min(longest_seconds, _SELDOM * self._close)
        self._believed_at = [0.0] * _SCALES
        self._patience = [_PATIENCE_SECONDS] * _SCALES
        self.forget()

    def forget(self) -> None:
        """What was seen is no part of what will be: the program is still starting."""
        self._now = 0.0
        self._floors = [_Floors(self._close * _FAN**scale) for scale in range(_SCALES)]
        self._still = float("inf")  # where memory stood when it rose last, or the least since then
        self.glance_closely()

    def glance_closely(self) -> None:
        """Memory may rise: the next glance comes soon."""
        self.glance_seconds = self._close
        self._paused = self._close  # before the last glance

    def glance(self, now: float, used_bytes: float, left_bytes: Optional[int] = None) -> None:
        """Take one reading."""
        self._now = now
        self._paused = self.glance_seconds
        self._still = min(self._still, used_bytes)
        if used_bytes - self._still >= max(_LEAST_RISE, _STILL * (left_bytes or 0)):
            self._still, self.glance_seconds = used_bytes, self._close
        else:
            self.glance_seconds = min(self._seldom, _SLOWER * self.glance_seconds)
        floor: Optional[float] = used_bytes
        for floors in self._floors:
            if floor is None:
                break
            floor = floors.add(now, floor)

    def was_wrong(self, scale: int) -> None:
        """What was seen on a scale was a swing: that one and the finer ones are believed again later, ever later."""
        for one in range(scale + 1):
            self._believed_at[one] = self._now + self._patience[one]
            self._patience[one] = min(2 * self._patience[one], _MOST_PATIENCE_SECONDS)

    def _is_close(self, floors: _Floors) -> bool:
        """Whether there are glances enough for these: what swings looks as if it rose, where it is seen seldom."""
        return self._paused <= max(2 * self._close, floors.seconds / _SAMPLES)

    def rise(self, left_bytes: Optional[int]) -> Optional[Rise]:
        """The rise by which most of what is left would be used up; None where the longest pause will do."""
        slopes = [(*floors.slope, scale) for scale, floors in enumerate(self._floors)
                  if self._now >= self._believed_at[scale] and self._is_close(floors)]  # fmt: skip
        fastest, since, scale = max(slopes, default=(0.0, 0.0, 0))
        if left_bytes is None or fastest <= 0:
            return None
        pause = max(self._shortest, _SHARE * left_bytes / fastest / _LOOKS)
        if pause >= self.longest_seconds:
            return None
        return Rise(pause, pause * fastest, scale, since)
