"""One scale of a series: its floors are four times as long as those of the scale before.

A bettor stakes on «the next floor is higher». When he has become rich, the floors grow.
"""

from __future__ import annotations

import math
from typing import Iterator, List, Optional

from .episode import Episode, Mark
from .rules import Rule

FAN = 4  # floors that make one floor of the next scale
STAKE = 0.9  # of his wealth; what he wins or loses at even odds is log(1 ± STAKE)
WON = math.log(1 + STAKE)
LOST = math.log(1 - STAKE)
FIRST_LOOK = 16  # floors before an episode is first asked whether it bends: fewer have no shape
MARKS = 9  # places behind the newest floor from which growth may have begun anew


class Scale(Episode):
    """One scale: an episode, and the wealth of one who bets that it goes on."""

    __slots__ = (
        "asked",
        "bound",
        "gathered",
        "half",
        "kept",
        "look",
        "marks",
        "needed",
        "patience",
        "recent",
        "rule",
        "wealth",
    )

    def __init__(self, rule: Rule, order: int, since: int, first: float) -> None:
        super().__init__(rule.block * FAN**order, since, first)
        self.rule = rule
        self.bound = math.log(rule.apart / self.length)
        self.needed = rule.coarse_rises if order else rule.rises
        self.recent = 0 if order else rule.recent
        self.patience = 0  # samples that an episode must last to be believed
        self.kept = 0.0 if rule.combine == "mean" else math.inf
        self.gathered = 0

    def begin(self, since: int, first: float) -> None:
        """Forget everything, and bet anew."""
        self.since = since  # not by super(): noise begins anew at every third floor
        self.first = self.last = self.peak = first
        self.floors = self.rises = 0
        self.area = self.squares = self.wealth = 0.0
        self.low = False
        self.asked = 0.0  # rises before a growth that looked bent is looked at again
        self.look = FIRST_LOOK
        self.half: Optional[Mark] = None
        self.marks: List[Mark] = []

    @property
    def share(self) -> float:
        """How much of the evidence for a leak there is."""
        return min(self.rises / self.needed, self.wealth / self.bound)

    def rise(self, floor: float, now: int) -> bool:
        """Take the next floor: True when there is evidence, and enough of it, of growth."""
        step = floor - self.last
        if step > 0:
            self.rises += 1
            self.wealth += WON
            if floor > self.peak:
                self.peak = floor
        elif not self.rises:
            # what stood still at first is no part of the growth: it would hide how that slows down
            self.since = now
            self.first = self.last = self.peak = floor
            return False
        elif step < 0:
            self.wealth += LOST
        self.last = floor
        self.floors += 1
        self.area += floor - self.first
        self.squares += step * step
        if (step < 0 or self.low) and (self.wealth <= 0 or self._gives_back()):
            self.begin(now, floor)
            return False
        if self.floors >= self.look:
            self._look(now)
        if self.recent and not self.floors % self.recent:
            self._set_mark(now)
        return self.wealth >= self.bound and self.rises >= self.needed and self.rises >= self.asked

    def _gives_back(self) -> bool:
        """Half of it went: then growth must last twice as long to be believed."""
        if not self.given_back():
            return False
        self.patience = max(self.patience, 2 * self.samples)
        return True

    def mark(self, now: int) -> Mark:
        """Where the episode stands."""
        return Mark(now, self.last, self.floors, self.rises, self.area, self.squares, self.wealth)

    def _set_mark(self, now: int) -> None:
        """Keep the last few places from which growth may have begun anew."""
        self.marks.append(self.mark(now))
        del self.marks[:-MARKS]

    def _look(self, now: int) -> None:
        """At every doubling, forget the older half if the whole bends."""
        self.look = 2 * self.floors
        half, self.half = self.half, self.mark(now)
        if self.bend > self.rule.bent:
            self._forget(half, now)

    def _forget(self, mark: Optional[Mark], now: int) -> None:
        """Keep what came after the mark."""
        self.patience = max(self.patience, int(self.rule.straighten * self.samples))
        if mark is None or self.wealth <= mark.wealth:
            self.begin(now, self.last)
            return
        self.marks = [later.less(mark, self.first) for later in self.marks if later.floors >= mark.floors]
        sums = self.mark(now).less(mark, self.first)
        self.start_at(mark.since, mark.first, sums)
        self.wealth = sums.wealth
        self.asked = 0.0
        self.look = 2 * self.floors
        self.half = self.mark(now)

    def beginnings(self) -> Iterator[Episode]:
        """All that has grown, and what has grown since each mark where that alone is evidence."""
        yield self
        for mark in self.marks:
            if self.rises - mark.rises >= self.needed and self.wealth - mark.wealth >= self.bound:
                part = self.copy()
                part.start_at(mark.since, mark.first, self.mark(0).less(mark, self.first))
                yield part
