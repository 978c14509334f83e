"""From counts that grow to findings: one cause, one finding, one line. Knows no TensorFlow, no clock, no log."""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from .advice import advice
from .catalog import BY_KIND
from .growth import Rule, Series
from .model import LEAK, UNKNOWN, Finding, Key, Tally
from .trail import Trail

_MOST_SERIES = 600
_MOST_POINTS = 64
_SLOWED = 0.69  # largest bend of what slows its own program down: n ~ √t has 0.67
_MANY_TRACES = 200  # of one line, whose calls can't be counted
_LITTLE = 0.1  # of what a count had climbed by

# What is left behind: more of it means more memory. Everything else that is counted only explains.
RETAINED: FrozenSet[str] = frozenset(
    "variable session graph graph_op function_graph dataset_graph iterator tape writer pyfunc pyfunc_token "
    "custom_gradient name seed queue table fetch model xla_build".split()
)
EXPLAINS: FrozenSet[str] = frozenset(("model_made", "compile", "optimizer_made", "retrace", "graph_variable"))
# What is counted beside: calls of the function, runs of sessions.
CLOCKS = {"function_graph": "call", "graph_op": "run"}
# Where nothing is: things so heavy that they slow their own program down. While none has gone, growth may slow too.
HEAVY: FrozenSet[str] = frozenset(("iterator", "session", "graph", "tape", "writer", "model"))
_MADE = {"model": "model_made", "optimizer": "optimizer_made"}  # births alone, whether or not they die
# Where these explain growth, the cause names what makes things: the number says which things it counts.
_MAKERS = ("model_made", "optimizer_made", "compile")
_KERNEL_BYTES = 36000  # of one cached kernel, as measured
_ESTIMATES = {
    "name": _KERNEL_BYTES,
    "seed": _KERNEL_BYTES,
    "queue": _KERNEL_BYTES,
    "pyfunc_token": _KERNEL_BYTES,
}


class Story(NamedTuple):
    """How growth is told: what grows, what explains it, and what else is then no story of its own."""

    advice: str
    grows: FrozenSet[str]
    because: str  # the explaining event whose line is the culprit; "" where the growth's own line is
    absorbs: FrozenSet[str]
    unless: FrozenSet[str] = frozenset()  # kinds that, while they climb, are about to explain it


def _set(words: str) -> FrozenSet[str]:
    return frozenset(words.split())


_ALL = RETAINED - {"session"}
_GRAPH = _set("graph graph_op fetch pyfunc")
STORIES: Tuple[Story, ...] = (  # the deepest cause first
    Story("session", _set("session"), "", _GRAPH | _set("function_graph")),
    Story("model", _set("name graph_op graph_variable variable model"), "model_made", _ALL),
    Story("recompile", _set("function_graph custom_gradient"), "compile", _ALL),
    Story("retrace", _set("function_graph"), "retrace", _ALL - _set("iterator table queue seed")),
    Story("executable", _set("xla_build"), "", _set("xla_build")),
    Story("custom_gradient", _set("custom_gradient function_graph"), "custom_gradient", _ALL),
    Story("function_library", _set("function_graph"), "", _ALL - _set("iterator table queue seed")),
    Story("graph_variable", _set("graph_op"), "graph_variable", _GRAPH),
    Story("graph_op", _set("graph_op"), "", _GRAPH),
    Story("graph", _set("graph"), "", _GRAPH),
    Story("kept_optimizer", _set("variable"), "optimizer_made", _set("variable name")),
    Story("variable", _set("variable"), "", _set("variable name"), _set("function_graph")),
    Story("iterator", _set("iterator"), "", _set("iterator dataset_graph pyfunc")),
    Story("tape", _set("tape"), "", _set("tape")),
    Story("pyfunc_token", _set("pyfunc_token"), "", _set("pyfunc_token pyfunc")),
    Story("pyfunc", _set("pyfunc"), "", _set("pyfunc dataset_graph")),
    Story("dataset_graph", _set("dataset_graph"), "", _set("dataset_graph")),
    Story("writer", _set("writer"), "", _set("writer")),
    Story("optimizer", _set("name"), "optimizer_made", _set("name")),
    Story("table", _set("table"), "", _set("table name")),
    Story("name", _set("name"), "", _set("name")),
    Story("queue", _set("queue"), "", _set("queue")),
    Story("seed", _set("seed"), "", _set("seed")),
    Story("fetch", _set("fetch"), "", _set("fetch"), _set("graph_op graph session")),
)


class Track:
    """One count over the looks of a watch or block: its growth, and when it last climbed.

    A leak often slows its own program down: then it bends in time, though each call leaks as much as the first. Where
    the calls are counted, a second series lets time bend, and the growth must be straight over the calls instead.
    """

    __slots__ = ("bendable", "climbed_at", "climbs", "died", "first_at", "floor", "high", "is_garbage", "key", "points",
                 "series", "start", "stride", "trail")  # fmt: skip

    def __init__(self, key: Key, rule: Optional[Rule], start: float, now: float) -> None:
        self.key = key
        self.series = Series(rule) if rule is not None else None
        self.bendable: Optional[Series] = None
        if rule is not None and key.kind in CLOCKS:
            self.bendable = Series(rule._replace(straight=0.8, bent=0.9))
        elif rule is not None and key.kind in HEAVY:
            self.bendable = Series(rule._replace(straight=_SLOWED, bent=0.8))
        self.points: List[Tuple[float, float]] = []
        self.stride = 1  # climbs from one of these to the next
        self.trail = Trail()
        self.start = -1.0  # its first value, once there is one
        self.high = start
        self.floor = -1.0  # what the last collection has left; none yet
        self.is_garbage = False  # what it climbs by waits for the collector
        self.climbs = self.died = 0
        self.first_at = self.climbed_at = now

    def look(self, value: float, now: float, clock: float) -> bool:
        """Take one value; True when its series has something new to say."""
        self.trail.add(value)
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

    def settle(self, value: float) -> None:
        """What a collection has left: no more than the one before, or next to nothing of all that it had climbed by."""
        self.is_garbage = value <= max(self.floor, self.start + _LITTLE * (self.high - self.start))
        self.floor = value

    def is_rising(self, now: float) -> bool:
        """Has climbed again and again, and lately."""
        return self.climbs >= 6 and now - self.climbed_at <= 0.34 * (now - self.first_at) + 2

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


class Draft(NamedTuple):
    """A finding before it knows whether it was told already."""

    finding: Finding
    tracks: Tuple[Track, ...] = ()


class Judge:
    """Looks at the ledger again and again; says what has begun to leak, has doubled, or is over."""

    def __init__(self, rule: Rule, per: str, unit: float = 1.0) -> None:
        self._rule = rule
        self._per = per
        self._unit = unit  # looks in one step or hour
        self._period = 1.0 if per == "step" else 3600 / unit  # from look to look, as what `now` counts
        self._now = 0.0
        self._tracks: Dict[Key, Track] = {}
        self._now = 0.0

    def look(self, tallies: Mapping[Key, Tally], now: float) -> bool:
        """Take the counts of one moment; True when a series wants to be confirmed or has changed its mind."""
        self._now = now
        news, self._now = False, now
        for key, value in _values(tallies):
            track = self._tracks.get(key)
            if track is None:
                if len(self._tracks) >= _MOST_SERIES:
                    continue
                rule = self._rule if key.kind in RETAINED else None
                track = self._tracks[key] = Track(key, rule, 0.0, now)
            tally = tallies.get(key)
            track.died = tally.died if tally is not None else 0
            news = track.look(value, now, _clock(key, tallies)) or news
        return news

    def suspects(self) -> List[Track]:
        """What would be told, if it is not garbage that waits for the collector."""
        return [track for track in self._tracks.values() if track.is_suspected]

    def confirm(self, tallies: Mapping[Key, Tally]) -> None:
        """Look again after a collection: what has gone was no leak."""
        after = dict(_values(tallies))
        for track in self.suspects():
            track.confirm(after.get(track.key, 0.0))

    def anything_rises(self) -> bool:
        """Whether some exact count climbs: what grows has a name already, or is about to."""
        return any(
            track.series is not None and not track.is_garbage and track.is_rising(self._now)
            for track in self._tracks.values()
        )

    def settle(self, tallies: Mapping[Key, Tally]) -> None:
        """Take the counts right after a collection: what falls back each time explains nothing that stays."""
        after = dict(_values(tallies))
        for track in self._tracks.values():
            track.settle(after.get(track.key, 0.0))

    def drafts(self, tallies: Mapping[Key, Tally]) -> List[Draft]:
        """The stories that the leaking counts tell, the deepest causes first."""
        leaking = {key: track for key, track in self._tracks.items() if track.leaking is not None}
        rising = [track for track in self._tracks.values() if track.is_rising(self._now)]
        drafts = []
        for story in STORIES:
            while True:  # what keeps another pace is another story of the same kind
                own = [track for track in leaking.values() if track.key.kind in story.grows]
                cause = self._cause(story, own, rising, tallies)
                if cause is None:
                    break
                taken = story.absorbs | story.grows
                gone = [one for one in leaking.values()
                        if one.key.kind in taken and not _is_apart(one, cause, rising)]  # fmt: skip
                if not gone:
                    break
                drafts.append(self._draft(story, cause, [track for track in own if track in gone], gone, tallies))
                for track in gone:
                    leaking.pop(track.key, None)
        return drafts

    def _cause(
        self, story: Story, own: List[Track], rising: Iterable[Track], tallies: Mapping[Key, Tally]
    ) -> Optional[Track]:
        """The track whose line is to blame; None where this is not the story."""
        rising = list(rising)
        often = max((track.climbs for track in own), default=0) / 2
        if not own or any(track.key.kind in story.unless and track.climbs >= often for track in rising):
            return None
        if not story.because:
            return _heaviest(own, tallies)
        causes = [track for track in rising if track.key.kind == story.because and track.climbs >= often]
        if story.because in ("retrace", "graph_variable"):
            sites = {track.key.site for track in own}
            causes = [track for track in causes if track.key.site in sites]
        return min(causes, key=lambda track: _order(track.key, tallies)) if causes else None

    def _draft(
        self, story: Story, cause: Track, own: List[Track], gone: List[Track], tallies: Mapping[Key, Tally]
    ) -> Draft:
        at = [track for track in own if track.key.site == cause.key.site] or own or gone
        main = max(at, key=lambda track: track.climbs)
        growth = main.leaking.growth if main.leaking is not None else None
        tally = tallies[_counted(cause.key)]
        row = advice(story.advice, tally.note or "here")
        since = max(0.0, self._now - growth.samples * self._period) if growth else main.first_at
        finding = Finding(
            kind=row.kind, site=cause.key.site, since=since,
            grown=int(growth.last - growth.first) if growth else 0,
            rate=(growth.slope if growth else 0.0) * self._unit, per=self._per,
            bytes=sum(_bytes(track, tallies) for track in gone),
            verdict=LEAK, cause=row.cause, cure=row.cure, confidence=_confidence(main), stack=tally.stack,
            trail=main.trail.values,
            counted=BY_KIND[main.key.kind].title if story.because in _MAKERS else "",
        )  # fmt: skip
        return Draft(finding, tuple(gone))


def _is_apart(track: Track, cause: Track, rising: Iterable[Track]) -> bool:
    """Whether a function is traced again for a reason of its own: elsewhere, and at another pace than the cause."""
    if track.key.kind != "function_graph" or track.key.site == cause.key.site:
        return False
    again = Key("retrace", track.key.site)
    return any(one.key == again and not 0.5 <= one.climbs / max(1, cause.climbs) <= 2 for one in rising)


def _values(tallies: Mapping[Key, Tally]) -> Iterable[Tuple[Key, float]]:
    for key, tally in tallies.items():
        if key.kind in RETAINED:
            yield key, float(tally.born - tally.died)
        made = _MADE.get(key.kind)
        if made is not None:
            yield Key(made, key.site), float(tally.born)
        elif key.kind in EXPLAINS:
            yield key, float(tally.born)


def _clock(key: Key, tallies: Mapping[Key, Tally]) -> float:
    """How often the program has done what this growth may come from."""
    kind = CLOCKS.get(key.kind)
    if kind is None:
        return 0.0
    tally = tallies.get(Key(kind, key.site if kind == "call" else UNKNOWN))
    return float(tally.born) if tally is not None else 0.0


def _counted(key: Key) -> Key:
    """The account that a track was read from."""
    for kind, made in _MADE.items():
        if key.kind == made:
            return Key(kind, key.site)
    return key


def _order(key: Key, tallies: Mapping[Key, Tally]) -> int:
    tally = tallies.get(_counted(key))
    return tally.order if tally is not None else 0


def _bytes(track: Track, tallies: Mapping[Key, Tally]) -> int:
    tally = tallies.get(_counted(track.key))
    if tally is None:
        return 0
    each = _ESTIMATES.get(track.key.kind)
    if each is not None:
        return each * tally.alive
    if track.key.kind == "function_graph":
        return sum(
            tallies[key].bytes
            for key in (Key("trace", track.key.site), Key("retrace", track.key.site))
            if key in tallies
        )
    return max(0, tally.live_bytes)


def _heaviest(tracks: List[Track], tallies: Mapping[Key, Tally]) -> Track:
    """The line that came first, unless another one weighs clearly more."""
    first = min(tracks, key=lambda track: _order(track.key, tallies))
    heaviest = max(tracks, key=lambda track: _bytes(track, tallies))
    clearly = _bytes(heaviest, tallies) > 3 * _bytes(first, tallies)
    return heaviest if clearly else first


def _confidence(track: Track) -> float:
    """How sure: a straight line of many rises, each of which is a counted object."""
    return round(1 - 0.5 / (1 + track.climbs / 16), 2)
