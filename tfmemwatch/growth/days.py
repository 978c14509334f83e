"""Growth under a daily swing: each hour is compared with the same hour of the day before."""

from __future__ import annotations

from typing import List, Optional

from .episode import Episode

SLOTS = 24  # parts of a day that are compared with the same part of the day before
DAYS = 5  # in a row on which the value lies above the day before


class Days(Episode):
    """Each hour against the same hour of the day before: growth under a daily swing."""

    __slots__ = ("count", "part", "slot", "today", "total", "yesterday")

    def __init__(self, samples_per_day: int, since: int) -> None:
        super().__init__(samples_per_day, since, 0.0)
        self.part = samples_per_day / SLOTS
        self.slot = int(since / self.part)
        self.total = 0.0
        self.count = 0
        self.today: List[float] = []
        self.yesterday: List[float] = []

    def hear(self, floor: float, now: int) -> Optional[float]:
        """The mean of the day that has just ended, if one has."""
        ended = self._turn(now) if int(now / self.part) != self.slot else None
        self.total += floor
        self.count += 1
        return ended

    def _turn(self, now: int) -> Optional[float]:
        """The next hour has come."""
        self.today.append(self.total / max(1, self.count))
        self.total, self.count = 0.0, 0
        self.slot = int(now / self.part)
        if len(self.today) < SLOTS:
            return None
        return self._end_day(now)

    def _end_day(self, now: int) -> float:
        """Compare today with yesterday, and count the days that lie above."""
        mean = sum(self.today) / SLOTS
        above = sum(new > old for new, old in zip(self.today, self.yesterday))
        if above >= SLOTS - 1:
            self.add(mean)
        else:
            self.begin(now, mean)
        self.yesterday, self.today = self.today, []
        return mean
