"""From counts that grow to findings: one cause, one finding, one line. Knows no TensorFlow, no clock, no log."""

from __future__ import annotations

from typing import Collection, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ..catalog import BY_KIND
from ..explain.advice import advice
from ..growth.episode import Growth
from ..growth.rules import Rule
from ..growth.timeline import Timeline
from ..model import LEAK, UNKNOWN, Finding, Key, Tally
from .stories import MAKERS, STORIES, TAKES_MEMORY, Story
from .tallies import bytes_of, clock_of, counted_as, order_of, values_in
from .tracks import Track

_MOST_SERIES = 600


class Draft(NamedTuple):
    """A finding before it knows whether it was told already."""

    finding: Finding
    tracks: Tuple[Track, ...] = ()
    goes_on: bool = True  # it has grown lately


class Judge:
    """Looks at the ledger again and again; says what has begun to leak, has doubled, or is over."""

    def __init__(self, rule: Rule, per: str) -> None:
        self._rule = rule
        self._per = per
        self._now = 0.0
        self._times = Timeline()  # when each look was
        self._endless: FrozenSet[Key] = frozenset()  # what leaks though its series has not said so
        self._tracks: Dict[Key, Track] = {}

    def look(self, tallies: Mapping[Key, Tally], now: float) -> bool:
        """Take the counts of one moment; True when a series wants to be confirmed or has changed its mind."""
        news, self._now = False, now
        first_look = self._times.looks
        self._times.add(now)
        for key, value in values_in(tallies):
            track = self._tracks.get(key)
            if track is None:
                if len(self._tracks) >= _MOST_SERIES:
                    continue
                rule = self._rule if key.kind in TAKES_MEMORY else None
                track = self._tracks[key] = Track(key, rule, 0.0, now, first_look)
            tally = tallies.get(key)
            track.died = tally.died if tally is not None else 0
            news = track.look(value, now, clock_of(key, tallies)) or news
        return news

    def suspects(self) -> List[Track]:
        """What would be told, if it is not garbage that waits for the collector."""
        return [track for track in self._tracks.values() if track.is_suspected]

    def know_endless(self, keys: Collection[Key]) -> bool:
        """That these climb for a reason that has no end needs no more looks; True where one begins to leak or ends."""
        tracks = [track for track in map(self._tracks.get, keys) if track is not None]
        tracks += [track for track in self._tracks.values() if track.is_many and self._is_traced_again(track)]
        for track in tracks:
            track.is_endless = True
        before, self._endless = self._endless, frozenset(track.key for track in tracks if self._leaks(track))
        return before != self._endless

    def _is_traced_again(self, track: Track) -> bool:
        """Whether it is one function, or a few, that made its traces: many functions have one each."""
        again = self._tracks.get(Key("retrace", track.key.site))
        return again is not None and again.climbs >= 0.5 * track.climbs

    def _leaks(self, track: Track) -> bool:
        return track.leaking is not None or (track.is_endless and track.died == 0 and track.is_rising(self._now))

    @property
    def has_leaks(self) -> bool:
        """Whether some count leaks."""
        return any(map(self._leaks, self._tracks.values()))

    def confirm(self, tallies: Mapping[Key, Tally], keys: Optional[Collection[Key]] = None) -> None:
        """Look again after a collection, at all or at these: what has gone was no leak."""
        after = dict(values_in(tallies))
        for track in self.suspects():
            if keys is None or track.key in keys:
                track.confirm(after.get(track.key, 0.0))

    def anything_rises(self) -> bool:
        """Whether some exact count climbs: what grows has a name already, or is about to."""
        return any(
            track.series is not None and not track.is_garbage and track.is_rising(self._now)
            for track in self._tracks.values()
        )

    def kinds_that_grow(self) -> FrozenSet[str]:
        """Of what leaks, or may be about to."""
        grow = [track for track in self._tracks.values() if track.leaking is not None or track.is_rising(self._now)]
        return frozenset(counted_as(track.key).kind for track in grow) | frozenset(track.key.kind for track in grow)

    def forget_what_has_no_line(self, but: Collection[Key]) -> None:
        """Begin anew with what is counted without a line: it was counted in another way before."""
        for key in [key for key in self._tracks if key.site == UNKNOWN and key not in but]:
            del self._tracks[key]

    def take_after_collection(self, tallies: Mapping[Key, Tally]) -> None:
        """Take the counts right after a collection: what falls back each time explains nothing that stays."""
        after = dict(values_in(tallies))
        for track in self._tracks.values():
            track.take_after_collection(after.get(track.key, 0.0))

    def drafts(self, tallies: Mapping[Key, Tally]) -> List[Draft]:
        """The stories that the leaking counts tell, the deepest causes first."""
        leaking = {key: track for key, track in self._tracks.items() if self._leaks(track)}
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
        return min(causes, key=lambda track: order_of(track.key, tallies)) if causes else None

    def _draft(
        self, story: Story, cause: Track, own: List[Track], gone: List[Track], tallies: Mapping[Key, Tally]
    ) -> Draft:
        at = [track for track in own if track.key.site == cause.key.site] or own or gone
        main = max(at, key=lambda track: track.climbs)
        growth = main.leaking.growth if main.leaking is not None else None
        tally = tallies[counted_as(cause.key)]
        row = advice(story.advice, tally.note or "here")
        since, rate = self._pace(main, growth) if growth else (main.first_at, self._pace_of(main))
        finding = Finding(
            kind=row.kind, site=cause.key.site, since=since,
            grown=int(growth.last - growth.first) if growth else int(main.high - main.start) * main.is_endless,
            rate=rate, per=self._per,
            bytes=sum(bytes_of(track, tallies) for track in gone),
            verdict=LEAK, cause=row.cause, cure=row.cure, confidence=_confidence(main), stack=tally.stack,
            trail=main.history.values,
            counted=BY_KIND[main.key.kind].title if story.because in MAKERS else "",
        )  # fmt: skip
        return Draft(finding, tuple(gone), any(track.goes_on(self._now) for track in gone))

    def _pace_of(self, track: Track) -> float:
        """The same of a count that is not a leak by its series, and known to have no end."""
        seconds = (track.high - track.start) / max(1e-3, self._now - track.first_at) * track.is_endless
        return seconds if self._per == "step" else 3600 * seconds

    def _pace(self, track: Track, growth: Growth) -> Tuple[float, float]:
        """Since when it grows, and by how much in a step or an hour: by the time that really passed."""
        if self._per == "step":
            return max(0.0, self._now - growth.samples), growth.slope
        began = track.first_look + growth.since
        since, until = self._times.at(began), self._times.at(began + growth.samples)
        return since, 3600 * (growth.last - growth.first) / max(1e-3, until - since)


def _is_apart(track: Track, cause: Track, rising: Iterable[Track]) -> bool:
    """Whether a function is traced again for a reason of its own: elsewhere, and at another pace than the cause."""
    if track.key.kind != "function_graph" or track.key.site == cause.key.site:
        return False
    again = Key("retrace", track.key.site)
    return any(one.key == again and not 0.5 <= one.climbs / max(1, cause.climbs) <= 2 for one in rising)


def _heaviest(tracks: List[Track], tallies: Mapping[Key, Tally]) -> Track:
    """The line that came first, unless another one weighs clearly more."""
    first = min(tracks, key=lambda track: order_of(track.key, tallies))
    heaviest = max(tracks, key=lambda track: bytes_of(track, tallies))
    clearly = bytes_of(heaviest, tallies) > 3 * bytes_of(first, tallies)
    return heaviest if clearly else first


def _confidence(track: Track) -> float:
    """How sure: a straight line of many rises, each of which is a counted object."""
    return round(1 - 0.5 / (1 + track.climbs / 16), 2)
