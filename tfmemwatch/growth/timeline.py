"""When each look was: samples are numbered, and need not be evenly apart."""

from __future__ import annotations

from typing import List

_MOST = 512


class Timeline:
    """The time of each look, in at most so many marks; between two of them it is taken to be even."""

    __slots__ = ("_each", "_last", "_times", "looks")

    def __init__(self) -> None:
        self._times: List[float] = []
        self._each = 1  # of so many looks the time is kept
        self._last = 0.0
        self.looks = 0

    def add(self, now: float) -> None:
        """One more look."""
        if self.looks % self._each == 0:
            if len(self._times) >= _MOST:
                del self._times[1::2]
                self._each *= 2
            if self.looks % self._each == 0:
                self._times.append(now)
        self.looks += 1
        self._last = now

    def at(self, look: float) -> float:
        """The time of a look, counted from 0."""
        times, last = self._times, self.looks - 1
        if not times or look >= last:
            return self._last
        index = int(max(0.0, look) // self._each)
        if index >= len(times):  # while one is added
            return self._last
        start = times[index]
        is_newest = index + 1 >= len(times)
        end, apart = (self._last, last - index * self._each) if is_newest else (times[index + 1], self._each)
        return start + (end - start) * (max(0.0, look) - index * self._each) / max(1, apart)
