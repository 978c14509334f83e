"""What one call leaves behind in memory: a running estimate over stretches of calls, and how sure it is."""

from __future__ import annotations

import math

_WARM_UP = 2  # stretches that do not count: first calls build, trace and fill caches


class Retained:
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
