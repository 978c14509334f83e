"""Growth that is not noise.

A series is read one value at a time. It is cut into blocks; the least value of a block is its floor, and
garbage, temporaries and calls in flight vanish from it. Four floors make one floor of the next scale, and on
each scale a bettor stakes on «the next floor is higher»: when he has become rich, on a growth that does not
slow down, something grows. No clock, no process, no log: values in, a verdict out.
"""

from __future__ import annotations

import math
from typing import Optional, Tuple

from .days import DAYS, SLOTS, Days
from .episode import Episode, Growth
from .rules import Rule
from .scale import FAN, Scale

_SOME_RISES = 8  # without a fall that matters: fewer are chance
PROGRESS = 0.125  # of the growth: what must be added for a leak to have moved on


class Series:
    """One value over time, and whether it leaks."""

    __slots__ = (
        "_case",
        "_days",
        "_left",
        "_limit",
        "_lowest",
        "_mark",
        "_mark_at",
        "_now",
        "_per_day",
        "_rule",
        "_scales",
        "_source",
        "_still",
        "_told",
        "verdict",
    )

    def __init__(self, rule: Rule, *, limit: Optional[float] = None, samples_per_day: Optional[int] = None) -> None:
        if rule.combine not in ("min", "mean"):
            raise ValueError('Rule.combine is %r; it must be "min" or "mean"' % (rule.combine,))
        self.verdict = "quiet"
        self._rule = rule
        self._limit = limit
        self._per_day = samples_per_day if rule.daily else None
        self._days: Optional[Days] = None
        self._now = 0
        self._left = rule.block
        self._lowest = math.inf
        self._still: Optional[float] = None
        self._scales: Tuple[Scale, ...] = ()
        self._case: Optional[Episode] = None
        self._source: Optional[Episode] = None
        self._told = self._mark = 0.0
        self._mark_at = 0

    def update(self, value: float) -> bool:
        """True when `verdict` has something new to say: a suspicion, a doubled growth, or its end."""
        if value < self._lowest:
            self._lowest = value
        self._left -= 1
        if self._left:
            return False
        return self._close()

    @property
    def growth(self) -> Optional[Growth]:
        """The growth that the verdict speaks of, or the last one; None before the first."""
        return self._case.as_growth() if self._case else None

    @property
    def progress(self) -> Optional[Tuple[int, int]]:
        """Samples of a growth that is not judged yet, and about how many are needed; None where too little rises."""
        if self.verdict == "suspected" and self._case is not None:
            return self._case.samples, self._case.samples
        growing = [scale for scale in self._scales if scale.rises >= _SOME_RISES and scale.wealth > 0]
        if not growing or self._source is not None:
            return None
        furthest = max(growing, key=lambda scale: scale.share)
        # where all is there but a straight line, it is looked at until it has stopped or gone on for as long again
        share = furthest.share if furthest.share < 1 else 0.5
        return furthest.samples, max(furthest.patience, math.ceil(furthest.samples / share))

    def confirm(self, value: float) -> bool:
        """True if a collection, which left `value`, has left most of the growth; else it was garbage."""
        case = self._case
        if case is None or self.verdict != "suspected":
            return self.verdict == "leak"
        if value - case.first >= 0.5 * case.grown:
            self.verdict = "leak"
            return True
        self._wait(2 * case.samples)
        self._drop("quiet")
        return False

    def _close(self) -> bool:
        """End a block: its least value is a floor."""
        rule = self._rule
        floor, self._lowest = self._lowest, math.inf
        self._left = rule.block
        self._now += rule.block
        if floor == math.inf:  # nothing but NaN
            return False
        if not self._scales:
            if self._still is None:
                self._still = floor
            if floor == self._still:
                return False
            self._build_scales(self._still)
        return self._pass_on(floor)

    def _build_scales(self, still: float) -> None:
        """Only a value that moves pays for scales."""
        since = self._now - self._rule.block
        self._scales = tuple(Scale(self._rule, order, since, still) for order in range(self._rule.scales))
        if self._per_day and self._per_day >= SLOTS * self._rule.block:
            self._days = Days(self._per_day, since)

    def _pass_on(self, floor: float) -> bool:
        """Hand a floor to the next scale as often as four of them make one there."""
        news = self._hear_day(floor) if self._days else False
        now = self._now
        mean = self._rule.combine == "mean"
        for scale in self._scales:
            if self._source is None:
                news = (scale.rise(floor, now) and self._suspect(scale)) or news
            elif scale is self._source:
                news = self._follow(floor)
            scale.last = floor
            if mean:
                scale.kept += floor
            elif floor < scale.kept:
                scale.kept = floor
            scale.gathered += 1
            if scale.gathered < FAN:
                break
            scale.gathered = 0
            floor, scale.kept = (scale.kept / FAN, 0.0) if mean else (scale.kept, math.inf)
        return news

    def _hear_day(self, floor: float) -> bool:
        """Follow the days, which a daily swing can't deceive."""
        days = self._days
        assert days is not None
        mean = days.hear(floor, self._now)
        if mean is None:
            return False
        if days is self._source:
            return self._follow(mean)
        if self._source is None and days.floors >= DAYS and self._is_leak(days):
            return self._open(days, days)
        return False

    def _suspect(self, scale: Scale) -> bool:
        """Open a case if the evidence has the shape and the size of a leak."""
        for episode in scale.beginnings():
            if episode.samples >= scale.patience and self._is_leak(episode):
                return self._open(episode, scale)
        scale.asked = self._rule.again * scale.rises
        return False

    def _is_leak(self, episode: Episode) -> bool:
        """Straight, neither small nor hidden in the scatter, and no reason to wait."""
        rule = self._rule
        return (
            episode.grown > 0
            and episode.bend <= rule.straight
            and episode.grown >= rule.material * abs(episode.last)
            and episode.grown >= rule.clear * episode.scatter
            and not self._can_wait(episode)
        )

    def _can_wait(self, episode: Episode) -> bool:
        """It may be a daily swing, and there is time to see whether it is."""
        day = self._per_day
        if not day or episode.samples >= 1.5 * day or episode.grown >= 0.3 * abs(episode.first):
            return False
        if self._limit is None:
            return True
        return (self._limit - episode.last) * episode.samples > day * episode.grown

    def _open(self, episode: Episode, source: Episode) -> bool:
        """Suspect a leak, and follow it by the floors that told of it."""
        case = self._case = episode.copy()
        self._source = source
        self._told = case.grown
        self._mark, self._mark_at = case.last, self._now
        self.verdict = "suspected"
        return True

    def _follow(self, floor: float) -> bool:
        """True when the case is over, or has doubled."""
        case = self._case
        assert case is not None
        case.add(floor)
        if case.given_back():
            self._wait(2 * (self._mark_at - case.since))
            return self._end("released")
        if floor - self._mark > PROGRESS * (self._mark - case.first):
            self._mark, self._mark_at = floor, self._now
        elif self._now - self._mark_at >= self._mark_at - case.since:
            return self._end("plateau")
        if floor - case.first < 2 * self._told:
            return False
        self._told = floor - case.first
        return True

    def _end(self, verdict: str) -> bool:
        """Withdraw a leak; a suspicion that nobody heard of just goes."""
        heard = self.verdict == "leak"
        self._drop(verdict if heard else "quiet")
        for scale in self._scales:
            scale.begin(self._now, scale.last)
        return heard

    def _drop(self, verdict: str) -> None:
        """Close the case, and keep it as the last."""
        self.verdict = verdict
        self._source = None
        if self._days:
            self._days.begin(self._now, self._days.last)

    def _wait(self, samples: int) -> None:
        """Believe no growth that is shorter."""
        for scale in self._scales:
            scale.patience = max(scale.patience, samples)
