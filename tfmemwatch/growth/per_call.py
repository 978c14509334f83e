"""What one call leaves behind in memory: a running estimate, how sure it is, and whether it adds up and up."""

from __future__ import annotations

import math
from typing import Iterable, NamedTuple

from .rules import BYTE_STEPS
from .series import Series

_WARM_UP = 2  # stretches that do not count: first calls build, trace and fill caches
LEAST_CALLS = 2048  # of a rise: what fills a cache of some size has met its end by then
_LEAST_BYTES = 1 << 20  # of a rise
LEAST_A_CALL = 800  # bytes
# A reading is many calls, so each is a floor. A warm-up fills caches for hundreds of calls: growth may begin inside it.
_RULE = BYTE_STEPS._replace(block=1, recent=8)
_PATIENCE = 1024  # calls until it is asked again whether something else explains a rise


class BytesPerCall:
    """Bytes in use from one reading to the next, over the calls that lay between; constant memory."""

    __slots__ = ("bytes", "calls", "squares", "stretches", "waits")

    def __init__(self) -> None:
        self.waits = _WARM_UP
        self.calls = self.bytes = self.stretches = 0
        self.squares = 0.0  # of bytes a call, weighed by calls

    def add(self, calls: int, grown: int) -> None:
        """Take a stretch of calls in which bytes in use have grown so much, or shrunk."""
        if calls <= 0:
            return
        if self.waits:
            self.waits -= 1
            return
        self.stretches += 1
        self.calls += calls
        self.bytes += grown
        self.squares += grown * grown / calls

    @property
    def per_call(self) -> float:
        """Bytes that a call leaves, as far as is known."""
        return self.bytes / self.calls if self.calls else 0.0

    @property
    def error(self) -> float:
        """One standard error of that; infinite while there are too few stretches to tell."""
        if self.stretches < 3:
            return math.inf
        mean = self.per_call
        scatter = max(0.0, self.squares - self.calls * mean * mean) / (self.stretches - 1)
        return math.sqrt(scatter / self.calls)


class Reading(NamedTuple):
    """A reading between two calls, counted from the first one; what could not be compared is left out of the sums."""

    calls: int
    grown: int  # bytes that malloc has handed out


class GrowthPerCall:
    """Whether what the calls leave adds up in a straight line: as a loop's steps are judged, but by the calls."""

    __slots__ = ("_patience", "_series", "calls", "grown", "readings", "waits_for")

    def __init__(self) -> None:
        self._series = Series(_RULE)
        self.calls = self.readings = self.grown = 0
        self.waits_for, self._patience = 0, _PATIENCE

    def add(self, marks: Iterable[Reading]) -> None:
        """Take the readings since the last time; they lie about as many calls apart."""
        for mark in marks:
            self.readings += 1
            self.calls, self.grown = mark
            self._series.update(float(mark.grown))

    @property
    def is_suspected(self) -> bool:
        """Whether it rises, and for long enough; nobody has asked yet what else may explain it."""
        return self._series.verdict == "suspected" and self.is_worth

    @property
    def is_leak(self) -> bool:
        """Whether it rises, and that is confirmed."""
        return self._series.verdict == "leak" and self.is_worth

    @property
    def is_worth(self) -> bool:
        """Whether it is much, in all and for each call."""
        return self.bytes >= _LEAST_BYTES and self.over >= LEAST_CALLS and self.per_call >= LEAST_A_CALL

    @property
    def bytes(self) -> float:
        """By how much it has risen."""
        growth = self._series.growth
        return growth.last - growth.first if growth is not None else 0.0

    @property
    def over(self) -> float:
        """The calls in which it rose."""
        growth = self._series.growth
        return growth.samples * self.calls / self.readings if growth is not None and self.readings else 0.0

    @property
    def per_call(self) -> float:
        """Bytes that each of these calls has left."""
        return self.bytes / self.over if self.over else 0.0

    def confirm(self) -> None:
        """Nothing else explains it."""
        self._series.confirm(math.inf)

    def wait(self) -> None:
        """Something else may explain it: it is asked again after some calls, and then after twice as many."""
        self.waits_for = self.calls + self._patience
        self._patience *= 2
