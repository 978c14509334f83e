"""Growth that is not noise.

A series is read one value at a time. It is cut into blocks; the least value of a block is its floor, and
garbage, temporaries and calls in flight vanish from it. Four floors make one floor of the next scale, and on
each scale a bettor stakes on «the next floor is higher»: when he has become rich, on a growth that does not
slow down, something grows. No clock, no process, no log: values in, a verdict out.
"""

from __future__ import annotations

import math
from typing import Iterator, List, NamedTuple, Optional, Tuple

FAN = 4  # floors that make one floor of the next scale
STAKE = 0.9  # of his wealth; what he wins or loses at even odds is log(1 ± STAKE)
WON = math.log(1 + STAKE)
LOST = math.log(1 - STAKE)
FIRST_LOOK = 16  # floors before an episode is first asked whether it bends: fewer have no shape
SLOTS = 24  # parts of a day that are compared with the same part of the day before
DAYS = 5  # in a row on which the value lies above the day before
MARKS = 9  # places behind the newest floor from which growth may have begun anew
PROGRESS = 0.125  # of the growth: what must be added for a leak to have moved on


class Rule(NamedTuple):
    """How much evidence one kind of series needs."""

    block: int  # samples that make a floor
    combine: str = "min"  # of four floors, for the next scale: "min" for exact counts, "mean" for noisy bytes
    scales: int = 7  # lengths of floor, each four times the one before
    rises: int = 64  # fewest rises at the finest scale
    coarse_rises: int = 22  # fewest rises at all other scales
    apart: float = 1e8  # samples without growth that pass, at least, for each false alarm
    straight: float = 0.52  # largest bend of a leak; a line has 0.5, what slows down has more
    bent: float = 0.65  # bend from which the older half of an episode is forgotten
    material: float = 0.0  # smallest growth, as a share of the level
    clear: float = 0.0  # smallest growth, in standard deviations of the rises
    daily: bool = False  # may swing with the hours: wait, and compare days, where a day's length is known
    again: float = 1.0  # a growth that looked bent is looked at again when it has so many times as many rises
    straighten: float = 0.0  # times that what bent must stay straight for, as long as it bent, to be believed
    recent: int = 0  # floors between marks from which a growth may start inside an older one; 0: no marks


# A service: silence counts for more than speed, and what has once bent must stay straight for long.
COUNT_SAMPLES = Rule(block=4, coarse_rises=28, again=1.125, straighten=2.0)

# A loop with explicit steps: it ends soon, so speed counts, also after a warm-up.
COUNT_STEPS = Rule(block=1, rises=32, apart=1e6, recent=8)

# Births less deaths at one line: nothing else moves it, so less evidence will do.
COUNT_EVENTS = Rule(block=4, rises=28, apart=1e7, again=1.125, straighten=2.0)

# Bytes of a service: noise all the time, and a swing each day.
BYTE_SAMPLES = Rule(block=8, combine="mean", rises=32, bent=0.56, straighten=1.0, material=0.02, daily=True)

# Bytes in a loop: a step's growth is nothing to the level, so it is measured by the scatter.
BYTE_STEPS = Rule(block=2, combine="mean", rises=28, apart=1e7, clear=8.0)


class Growth(NamedTuple):
    """From where to where a series grew, how fast, and how straight."""

    first: float
    last: float
    since: int  # index, from 0, of the sample after which it grew
    samples: int  # how long it has grown
    rises: int  # floors above the one before
    slope: float  # per sample
    slope_error: float  # one standard error, from the scatter of the rises
    bend: float  # area under the growth, as a share of its box: 0.5 is straight, more slows down


class _Mark(NamedTuple):
    """Where an episode stood at one floor, so that what came before can be forgotten."""

    since: int
    first: float
    floors: int
    rises: int
    area: float
    squares: float
    wealth: float

    def less(self, start: _Mark, first: float) -> _Mark:
        """The same place, counted from `start` in an episode that began at the value `first`."""
        floors = self.floors - start.floors
        return _Mark(
            self.since,
            self.first,
            floors,
            self.rises - start.rises,
            self.area - start.area - floors * (start.first - first),
            self.squares - start.squares,
            self.wealth - start.wealth,
        )


class _Episode:
    """One growth: sums over the floors since it began."""

    __slots__ = ("area", "first", "floors", "last", "length", "low", "peak", "rises", "since", "squares")

    def __init__(self, length: int, since: int, first: float) -> None:
        self.length = length  # samples a floor
        self.begin(since, first)

    def begin(self, since: int, first: float) -> None:
        """Forget everything, and grow from here."""
        self.since = since
        self.first = self.last = self.peak = first
        self.floors = self.rises = 0
        self.area = self.squares = 0.0
        self.low = False

    def add(self, floor: float) -> None:
        """Take the next floor."""
        step = floor - self.last
        self.last = floor
        self.floors += 1
        self.area += floor - self.first
        self.squares += step * step
        if step > 0:
            self.rises += 1
        if floor > self.peak:
            self.peak = floor

    @property
    def grown(self) -> float:
        """The last floor less the first."""
        return self.last - self.first

    @property
    def samples(self) -> int:
        """How long the episode is, in samples."""
        return self.floors * self.length

    @property
    def bend(self) -> float:
        """0.5 for a straight line, towards 1 for what jumps and then stands, 0 for what explodes."""
        if self.grown <= 0:
            return 1.0
        return (self.area / self.grown - 0.5) / self.floors

    @property
    def scatter(self) -> float:
        """Standard deviation of the rises from floor to floor."""
        if not self.floors:
            return 0.0
        mean = self.grown / self.floors
        return math.sqrt(max(0.0, self.squares / self.floors - mean * mean))

    def given_back(self) -> bool:
        """True at the second floor in a row below half of the growth: one dip is none."""
        low = self.last - self.first < 0.5 * (self.peak - self.first)
        twice = low and self.low
        self.low = low
        return twice

    def copy(self) -> _Episode:
        """The same growth, which goes on by itself."""
        copy = _Episode(self.length, self.since, self.first)
        copy.peak, copy.last = self.peak, self.last
        copy.floors, copy.rises = self.floors, self.rises
        copy.area, copy.squares = self.area, self.squares
        return copy

    def start_at(self, since: int, first: float, sums: _Mark) -> None:
        """Forget what came before, where `sums` is what came after."""
        self.since, self.first, self.peak = since, first, self.last
        self.floors, self.rises = sums.floors, sums.rises
        self.area, self.squares = sums.area, sums.squares

    def as_growth(self) -> Growth:
        """The episode as a value."""
        samples = max(1, self.samples)
        return Growth(
            first=self.first,
            last=self.last,
            since=max(0, self.since - 1),
            samples=self.samples,
            rises=self.rises,
            slope=self.grown / samples,
            slope_error=self.scatter * math.sqrt(self.floors) / samples,
            bend=self.bend,
        )


class _Rung(_Episode):
    """One scale of the ladder: an episode, and the wealth of one who bets that it goes on."""

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

    def __init__(self, rule: Rule, scale: int, since: int, first: float) -> None:
        super().__init__(rule.block * FAN**scale, since, first)
        self.rule = rule
        self.bound = math.log(rule.apart / self.length)
        self.needed = rule.coarse_rises if scale else rule.rises
        self.recent = 0 if scale else rule.recent
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
        self.half: Optional[_Mark] = None
        self.marks: List[_Mark] = []

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

    def mark(self, now: int) -> _Mark:
        """Where the episode stands."""
        return _Mark(now, self.last, self.floors, self.rises, self.area, self.squares, self.wealth)

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

    def _forget(self, mark: Optional[_Mark], now: int) -> None:
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

    def beginnings(self) -> Iterator[_Episode]:
        """All that has grown, and what has grown since each mark where that alone is evidence."""
        yield self
        for mark in self.marks:
            if self.rises - mark.rises >= self.needed and self.wealth - mark.wealth >= self.bound:
                part = self.copy()
                part.start_at(mark.since, mark.first, self.mark(0).less(mark, self.first))
                yield part


class _Days(_Episode):
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
        "_rungs",
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
        self._days: Optional[_Days] = None
        self._now = 0
        self._left = rule.block
        self._lowest = math.inf
        self._still: Optional[float] = None
        self._rungs: Tuple[_Rung, ...] = ()
        self._case: Optional[_Episode] = None
        self._source: Optional[_Episode] = None
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
        if not self._rungs:
            if self._still is None:
                self._still = floor
            if floor == self._still:
                return False
            self._climb(self._still)
        return self._pass_on(floor)

    def _climb(self, still: float) -> None:
        """Build the ladder: only a value that moves pays for it."""
        since = self._now - self._rule.block
        self._rungs = tuple(_Rung(self._rule, scale, since, still) for scale in range(self._rule.scales))
        if self._per_day and self._per_day >= SLOTS * self._rule.block:
            self._days = _Days(self._per_day, since)

    def _pass_on(self, floor: float) -> bool:
        """Hand a floor up the ladder as far as it fills one of the next scale."""
        news = self._hear_day(floor) if self._days else False
        now = self._now
        mean = self._rule.combine == "mean"
        for rung in self._rungs:
            if self._source is None:
                news = (rung.rise(floor, now) and self._suspect(rung)) or news
            elif rung is self._source:
                news = self._follow(floor)
            rung.last = floor
            if mean:
                rung.kept += floor
            elif floor < rung.kept:
                rung.kept = floor
            rung.gathered += 1
            if rung.gathered < FAN:
                break
            rung.gathered = 0
            floor, rung.kept = (rung.kept / FAN, 0.0) if mean else (rung.kept, math.inf)
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

    def _suspect(self, rung: _Rung) -> bool:
        """Open a case if the evidence has the shape and the size of a leak."""
        for episode in rung.beginnings():
            if episode.samples >= rung.patience and self._is_leak(episode):
                return self._open(episode, rung)
        rung.asked = self._rule.again * rung.rises
        return False

    def _is_leak(self, episode: _Episode) -> bool:
        """Straight, neither small nor hidden in the scatter, and no reason to wait."""
        rule = self._rule
        return (
            episode.grown > 0
            and episode.bend <= rule.straight
            and episode.grown >= rule.material * abs(episode.last)
            and episode.grown >= rule.clear * episode.scatter
            and not self._can_wait(episode)
        )

    def _can_wait(self, episode: _Episode) -> bool:
        """It may be a daily swing, and there is time to see whether it is."""
        day = self._per_day
        if not day or episode.samples >= 1.5 * day or episode.grown >= 0.3 * abs(episode.first):
            return False
        if self._limit is None:
            return True
        return (self._limit - episode.last) * episode.samples > day * episode.grown

    def _open(self, episode: _Episode, source: _Episode) -> bool:
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
        for rung in self._rungs:
            rung.begin(self._now, rung.last)
        return heard

    def _drop(self, verdict: str) -> None:
        """Close the case, and keep it as the last."""
        self.verdict = verdict
        self._source = None
        if self._days:
            self._days.begin(self._now, self._days.last)

    def _wait(self, samples: int) -> None:
        """Believe no growth that is shorter."""
        for rung in self._rungs:
            rung.patience = max(rung.patience, samples)
