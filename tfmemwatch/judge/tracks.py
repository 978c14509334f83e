"""One count over the looks of a watch or block: its growth, and when it last climbed."""

from __future__ import annotations

from typing import FrozenSet, List, Optional, Tuple

from ..growth.history import History
from ..growth.rules import Rule
from ..growth.series import Series
from ..model import Key

_MOST_POINTS = 64
_SLOWED = 0.69  # largest bend of what slows its own program down: n ~ √t has 0.67
_MANY_TRACES = 200  # of one line, whose calls can't be counted
_ENOUGH_TRACES = 400  # of one line, that need no statistics: who warms up shapes has some hundred
_ENOUGH_CLIMBS = 12  # looks at which there were more
_LITTLE = 0.1  # of what a count had climbed by

# What is counted beside: calls of the function, runs of sessions.
CLOCKS = {"function_graph": "call", "graph_op": "run"}
# Where nothing is: things so heavy that they slow their own program down. While none has gone, growth may slow too.
HEAVY: FrozenSet[str] = frozenset(("iterator", "session", "graph", "tape", "writer", "model"))

_TIMES, _STILL = 3, 24  # climbs, and steps longer than these took: then it was filled


class Track:
    """One count over the looks of a watch or block: its growth, and when it last climbed.

    A leak often slows its own program down: then it bends in time, though each call leaks as much as the first. Where
    the calls are counted, a second series lets time bend, and the growth must be straight over the calls instead.
    """

    __slots__ = ("bendable", "climbed_at", "climbs", "died", "first_at", "first_look", "floor", "high", "history",
                 "is_endless", "is_garbage", "key", "points", "series", "start", "stride")  # fmt: skip

    def __init__(self, key: Key, rule: Optional[Rule], start: float, now: float, first_look: int = 0) -> None:
        self.key = key
        self.first_look = first_look  # of the judge's: the first sample of the series
        self.series = Series(rule) if rule is not None else None
        self.bendable: Optional[Series] = None
        if rule is not None and key.kind in CLOCKS:
            self.bendable = Series(rule._replace(straight=0.8, bent=0.9))
        elif rule is not None and key.kind in HEAVY:
            self.bendable = Series(rule._replace(straight=_SLOWED, bent=0.8))
        self.points: List[Tuple[float, float]] = []
        self.stride = 1  # climbs from one of these to the next
        self.history: History[float] = History()
        self.start = -1.0  # its first value, once there is one
        self.high = start
        self.floor = -1.0  # what the last collection has left; none yet
        self.is_endless = False  # it is known why it grows, and that this has no end
        self.is_garbage = False  # what it climbs by waits for the collector
        self.climbs = self.died = 0
        self.first_at = self.climbed_at = now

    def look(self, value: float, now: float, clock: float) -> bool:
        """Take one value; True when its series has something new to say."""
        self.history.add(value)
        if self.start < 0:
            self.start = value
        if value > self.high:
            self.high = value
            self.climbs += 1
            self.climbed_at = now
            if self.climbs == 1:
                self.first_at = now
            if self.bendable is not None:
                self._mark(clock, value)
        news = self.series is not None and self.series.update(value)
        if self.bendable is not None:
            news = self.bendable.update(value) or news
        return news

    def _mark(self, clock: float, value: float) -> None:
        if self.climbs % self.stride == 0:
            self.points.append((clock, value))
        if len(self.points) > _MOST_POINTS:
            del self.points[1::2]
            self.stride *= 2  # so that they stay even: else the later half would be that of the last points

    @property
    def is_straight_by_clock(self) -> bool:
        """Whether the later half of the calls has added about as much as the earlier one."""
        if self.key.kind not in CLOCKS:
            return self.died == 0
        points = self.points[len(self.points) // 4 :]  # a start-up does not count
        if len(points) < 8:
            return False
        if points[-1][0] <= points[0][0]:
            return self._is_heavy
        (first, low), (last, high) = points[0], points[-1]
        middle = (first + last) / 2
        at_middle = next(value for clock, value in points if clock >= middle)
        return high - at_middle >= 0.42 * (high - low) > 0

    @property
    def is_many(self) -> bool:
        """Hundreds of traces of one line, none of them gone, as many in the later half of the calls: no warm-up."""
        is_much = self.key.kind == "function_graph" and self.high - self.start >= _ENOUGH_TRACES
        return is_much and self.died == 0 and self.climbs >= _ENOUGH_CLIMBS and self.is_straight_by_clock

    @property
    def _is_heavy(self) -> bool:
        """Hundreds of traces, none of them gone and none called through its function: they slow their program down."""
        growth = self.bendable.growth if self.bendable is not None else None
        is_many = growth is not None and growth.last - growth.first >= _MANY_TRACES and growth.bend <= _SLOWED
        return is_many and self.key.kind == "function_graph" and self.died == 0

    def confirm(self, value: float) -> None:
        """What a collection has left: is it still a leak?"""
        for series in (self.series, self.bendable):
            if series is not None and series.verdict == "suspected":
                series.confirm(value)

    def take_after_collection(self, value: float) -> None:
        """What a collection has left: no more than the one before, or next to nothing of all that it had climbed by."""
        self.is_garbage = value <= max(self.floor, self.start + _LITTLE * (self.high - self.start))
        self.floor = value

    def is_rising(self, now: float) -> bool:
        """Has climbed again and again, and lately."""
        return self.climbs >= 6 and now - self.climbed_at <= 0.34 * (now - self.first_at) + 2

    def progress(self, looks: int, fewest: int) -> Optional[Tuple[int, int]]:
        """How many looks of growth there are, and about how many it takes; None where nothing is to be told of it.

        `looks` have passed since it first climbed; with fewer than `fewest` there is no shape yet.
        """
        if self.series is None or self.is_garbage or self.leaking is not None:
            return None
        both = [series.progress for series in (self.series, self.bendable) if series is not None]
        known = [progress for progress in both if progress is not None]
        if known:
            return max(known, key=lambda progress: progress[0] / progress[1])
        return (looks, fewest) if looks < fewest else None

    def grown_before(self, first: float, last: float, since: float, now: float) -> float:
        """By how much it had grown before an episode, where it went at that pace from the beginning; else 0."""
        if since <= self.first_at or self.start < 0 or now <= since:
            return 0.0
        more, pace = first - self.start, (last - first) / (now - since)
        return more if 0.5 <= more / max(1e-9, pace * (since - self.first_at)) <= 2 else 0.0

    def rests(self, now: float) -> float:
        """How much longer it has stood still than it has climbed."""
        return now - self.climbed_at - (self.climbed_at - self.first_at)

    def is_full(self, now: float) -> bool:
        """Whether it has climbed some times, and then stood still for longer than that took."""
        return self.climbs >= _TIMES and self.rests(now) >= _STILL

    def has_climbed_lately(self, now: float) -> bool:
        """Whether it has not stood still for as long as it climbed."""
        return now - self.climbed_at <= max(2.0, self.climbed_at - self.first_at)

    def pace(self, now: float) -> float:
        """How often it has climbed, for as long as it has."""
        return self.climbs / max(1.0, now - self.first_at)

    def goes_on(self, now: float) -> bool:
        """Has climbed just now, for a count of its pace."""
        grew = self.climbed_at - self.first_at
        return now - self.climbed_at <= 0.1 * grew + 3 * grew / max(1, self.climbs)

    @property
    def is_suspected(self) -> bool:
        return any(series is not None and series.verdict == "suspected" for series in (self.series, self.bendable))

    @property
    def leaking(self) -> Optional[Series]:
        """The series that says so, if one does."""
        if self.series is not None and self.series.verdict == "leak":
            return self.series
        if self.bendable is not None and self.bendable.verdict == "leak" and self.is_straight_by_clock:
            return self.bendable
        return None
