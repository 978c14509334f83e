"""From counts that grow to findings: one cause, one finding, one line. Knows no TensorFlow, no clock, no log."""

from __future__ import annotations

from typing import Collection, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Set, Tuple

from ..catalog import BY_KIND
from ..explain.advice import advice
from ..growth.episode import Growth
from ..growth.rules import Rule
from ..growth.timeline import Timeline
from ..headline import Growing
from ..model import LEAK, UNKNOWN, Finding, Key, Tally
from ..units import count_of
from .stories import MAKERS, STORIES, TAKES_MEMORY, Story
from .tallies import bytes_of, clock_of, counted_as, order_of, values_in
from .tracks import Track

_MOST_SERIES = 600
_REST_SECONDS = 60.0  # that a program may pause without an end to what was found of it


class Draft(NamedTuple):
    """A finding before it knows whether it was told already."""

    finding: Finding
    tracks: Tuple[Track, ...] = ()
    goes_on: bool = True  # it has grown lately
    story: Optional[Story] = None  # that the counts tell
    cause: Optional[Key] = None  # the count whose line is told


class _Told:
    """A story that was told: the counts in it stay its own until none of them leaks any more."""

    def __init__(self, story: Story, cause: Key, now: float) -> None:
        self.story = story
        self.cause = cause
        self.at = now
        self.keys: Set[Key] = set()


class Judge:
    """Looks at the ledger again and again; says what has begun to leak, has doubled, or is over."""

    def __init__(self, rule: Rule, per: str) -> None:
        self._rule = rule
        self._per = per
        self._now = 0.0
        self._times = Timeline()  # when each look was
        self._endless: FrozenSet[Key] = frozenset()  # what leaks though its series has not said so
        self._tracks: Dict[Key, Track] = {}
        self._told: List[_Told] = []

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
        if track.leaking is not None or not track.is_endless or track.died:
            return track.leaking is not None
        is_resting = track.key in self._endless and track.rests(self._now) <= _REST_SECONDS
        return is_resting or track.is_rising(self._now)

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

    def growing(self) -> Optional[Growing]:
        """The count that is nearest to being told, of those that climb."""
        found = []
        for track in list(self._tracks.values()):  # a scrape may ask while the watch looks
            if track.is_rising(self._now):
                looks = self._times.looks - track.first_look - 1
                found.append((track, track.progress(looks, self._rule.fewest)))
        known = [(progress[0] / progress[1], progress, track) for track, progress in found if progress is not None]
        if not known:
            return None
        _, (seen, needed), track = max(known, key=lambda row: row[0])
        what = "+%s %s at %s" % (
            count_of(track.high - max(0.0, track.start)), BY_KIND[track.key.kind].title, track.key.site.short,
        )  # fmt: skip
        return Growing(what, seen, needed, "step" if self._per == "step" else "look")

    def kinds_that_grow(self) -> FrozenSet[str]:
        """Of what leaks, or may be about to."""
        grow = [track for track in self._tracks.values() if track.leaking is not None or track.is_rising(self._now)]
        return frozenset(counted_as(track.key).kind for track in grow) | frozenset(track.key.kind for track in grow)

    def filled(self) -> FrozenSet[Key]:
        """The counts that grew for a while, and have stood still for longer than that took."""
        return frozenset(key for key, track in self._tracks.items() if track.is_full(self._now))

    def forget_what_has_no_line(self, but: Collection[Key]) -> None:
        """Begin anew with what is counted without a line: it was counted in another way before."""
        told = {key for one in self._told for key in (one.cause, *one.keys)}
        for key in [key for key in self._tracks if key.site == UNKNOWN and key not in but and key not in told]:
            del self._tracks[key]

    def take_after_collection(self, tallies: Mapping[Key, Tally]) -> None:
        """Take the counts right after a collection: what falls back each time explains nothing that stays."""
        after = dict(values_in(tallies))
        for track in self._tracks.values():
            track.take_after_collection(after.get(track.key, 0.0))

    def drafts(self, tallies: Mapping[Key, Tally]) -> List[Draft]:
        """The stories that the leaking counts tell: those told, as they were told; then the deepest causes."""
        leaking = {key: track for key, track in self._tracks.items() if self._leaks(track)}
        self._told = [told for told in self._told if any(key in leaking for key in told.keys)]
        rising = [track for track in self._tracks.values() if track.is_rising(self._now)]
        drafts = [self._as_told(told, leaking, tallies) for told in self._told]
        explained = {track.key for draft in drafts for track in draft.tracks}
        for story in STORIES:
            while True:  # what keeps another pace is another story of the same kind
                own = [track for track in leaking.values() if track.key.kind in story.grows]
                cause = self._cause(story, own, [one for one in rising if one.key not in explained], tallies)
                if cause is None:
                    break
                taken = story.absorbs | story.grows
                gone = [one for one in leaking.values()
                        if one.key.kind in taken and not _is_apart(one, story, cause, rising)]  # fmt: skip
                if not gone:
                    break
                if any(track.has_climbed_lately(self._now) for track in gone):  # else it is about to be over
                    own = [track for track in own if track in gone]
                    drafts.append(self._draft(story, cause, own, gone, tallies))
                for track in gone:
                    leaking.pop(track.key, None)
                    explained.add(track.key)
        return drafts

    def keep(self, drafts: Iterable[Draft]) -> None:
        """These are told: from now on each keeps its kind, its line and its counts, until it is over."""
        for draft in drafts:
            if draft.story is None or draft.cause is None:
                continue
            keys = {track.key for track in draft.tracks}
            told = next((told for told in self._told if told.keys & keys), None)
            if told is None:
                told = _Told(draft.story, draft.cause, self._now)
                self._told.append(told)
            told.keys |= keys

    @property
    def has_told(self) -> bool:
        """Whether what counts have begun to explain was told, and goes on."""
        return any(self._leaks(self._tracks[key]) for told in self._told for key in told.keys)

    def _as_told(self, told: _Told, leaking: Dict[Key, Track], tallies: Mapping[Key, Tally]) -> Draft:
        """A story that goes on, with what has come to it since."""
        cause = self._tracks[told.cause]
        mine = [track for track in leaking.values() if track.key in told.keys or self._has_joined(track, told, cause)]
        for track in mine:
            del leaking[track.key]
        own = [track for track in mine if track.key.kind in told.story.grows] or mine
        return self._draft(told.story, cause, own, mine, tallies)

    def _has_joined(self, track: Track, told: _Told, cause: Track) -> bool:
        """Whether a count that leaks only now comes of what was told: of its line, begun with it, or at its pace.

        What begins to climb when all was told, elsewhere, is another leak.
        """
        is_taken = any(track.key in one.keys for one in self._told)
        if is_taken or track.key.kind not in told.story.absorbs | told.story.grows:
            return False
        if track.key.site in {key.site for key in told.keys} or track.key.site == told.cause.site:
            return True
        is_as_fast = 0.5 <= track.pace(self._now) / max(1e-9, cause.pace(self._now)) <= 2
        if not is_as_fast or cause.climbed_at < (track.first_at + self._now) / 2:  # that had ended before
            return False
        return told.story.because in MAKERS or track.first_at <= told.at

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
        since, rate = self._pace(main, growth) if growth else _pace_without_end(main, self._now, self._per)
        before = main.grown_before(growth.first, growth.last, since, self._now) if growth else 0.0
        if before:
            since = main.first_at
        finding = Finding(
            kind=row.kind, site=cause.key.site, since=since,
            grown=int(growth.last - growth.first + before) if growth else int(main.high - main.start) * main.is_endless,
            rate=rate, per=self._per,
            bytes=sum(bytes_of(track, tallies) for track in gone),
            verdict=LEAK, cause=row.cause, cure=row.cure, confidence=_confidence(main), stack=tally.stack,
            trail=main.history.values,
            counted=BY_KIND[main.key.kind].title if story.because in MAKERS else "",
        )  # fmt: skip
        goes_on = any(track.goes_on(self._now) for track in gone)
        return Draft(finding, tuple(gone), goes_on, story, cause.key)

    def _pace(self, track: Track, growth: Growth) -> Tuple[float, float]:
        """Since when it grows, and by how much in a step or an hour: by the time that really passed."""
        if self._per == "step":
            return max(0.0, self._now - growth.samples), growth.slope
        began = track.first_look + growth.since
        since, until = self._times.at(began), self._times.at(began + growth.samples)
        return since, 3600 * (growth.last - growth.first) / max(1e-3, until - since)


def _is_apart(track: Track, story: Story, cause: Track, rising: Iterable[Track]) -> bool:
    """Whether a count grows for a reason of its own: elsewhere, and at another pace than the cause.

    What a retrace leaves comes with it; what a model or a session brings may grow at any pace, but for a function that
    is traced again.
    """
    if track.key.site == cause.key.site or _keep_pace(track, cause):
        return False
    if story.because == "retrace":
        return True
    again = Key("retrace", track.key.site)
    return track.key.kind == "function_graph" and any(one.key == again and not _keep_pace(one, cause) for one in rising)


def _keep_pace(one: Track, other: Track) -> bool:
    """Whether two counts climb about as often."""
    return 0.5 <= one.climbs / max(1, other.climbs) <= 2


def _heaviest(tracks: List[Track], tallies: Mapping[Key, Tally]) -> Track:
    """The line that came first, unless another one weighs clearly more."""
    first = min(tracks, key=lambda track: order_of(track.key, tallies))
    heaviest = max(tracks, key=lambda track: bytes_of(track, tallies))
    clearly = bytes_of(heaviest, tallies) > 3 * bytes_of(first, tallies)
    return heaviest if clearly else first


def _confidence(track: Track) -> float:
    """How sure: a straight line of many rises, each of which is a counted object."""
    return round(1 - 0.5 / (1 + track.climbs / 16), 2)


def _pace_without_end(track: Track, now: float, per: str) -> Tuple[float, float]:
    """The same of a count that is no leak by its series, and known to have no end."""
    pace = (track.high - track.start) / max(1e-3, now - track.first_at) * track.is_endless
    return track.first_at, pace if per == "step" else 3600 * pace
