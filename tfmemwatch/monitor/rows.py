"""Counts to the rows of a report: what was made, traced, built and opened between two readings. Pure."""

from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ..catalog import BY_KIND
from ..model import Key, Site, Tally
from ..reports import Built, Made, OpenSessions, Traced

Tallies = Mapping[Key, Tally]
Rows = Tuple[Tuple[Made, ...], Tuple[Traced, ...], Tuple[Built, ...]]
_TRACES = ("trace", "retrace")
_MADE = frozenset(BY_KIND) - {*_TRACES, "xla_build", "session_closed", "writer_closed"}  # these have rows of their own


def _changes(before: Tallies, after: Tallies, kinds: Iterable[str]) -> List[Tally]:
    """What has happened at each line between two readings."""
    wanted = frozenset(kinds)
    tallies = [tally for key, tally in after.items() if key.kind in wanted]
    return [_change(before.get(one.key), one) for one in tallies] if before else tallies


def _change(old: Optional[Tally], new: Tally) -> Tally:
    if old is None:
        return new
    return Tally(
        new.key, new.born - old.born, new.died - old.died, new.live_bytes - old.live_bytes, new.bytes - old.bytes,
        new.seconds - old.seconds, new.order, new.note, new.stack,
    )  # fmt: skip


def all_of(before: Tallies, after: Tallies) -> Rows:
    """What was made, traced and built."""
    return made(before, after), traced(before, after), built(before, after)


class KeptRows:
    """The same since the beginning, kept until a count changes: a page asks often."""

    def __init__(self) -> None:
        self._last: Tuple[List[Tally], Rows] = ([], ((), (), ()))

    def of(self, after: Tallies) -> Rows:
        """The rows of these counts."""
        tallies, (known, found) = list(after.values()), self._last
        if known != tallies:
            found = all_of({}, after)
            self._last = tallies, found
        return found


def made(before: Tallies, after: Tallies) -> Tuple[Made, ...]:
    """By line and kind; what most is left of comes first."""
    rows = [
        Made(one.key.kind, one.key.site, one.born, one.died, one.live_bytes)
        for one in _changes(before, after, _MADE)
        if one.born or one.died
    ]
    return tuple(sorted(rows, key=lambda row: (-row.alive, -row.made)))


def traced(before: Tallies, after: Tallies) -> Tuple[Traced, ...]:
    """By line; the most first."""
    rows = [
        Traced(one.note, one.key.site, one.key.kind == "retrace", one.born, one.seconds, one.bytes)
        for one in _changes(before, after, _TRACES)
        if one.born
    ]
    return tuple(sorted(rows, key=lambda row: -row.times))


def built(before: Tallies, after: Tallies) -> Tuple[Built, ...]:
    """What XLA has built, for how many traces: those from this line, else all of the function's name."""
    builds = [one for one in _changes(before, after, ("xla_build",)) if one.born]
    if not builds:
        return ()
    traces: Dict[Tuple[Optional[Site], str], int] = {}
    for one in _changes(before, after, _TRACES):
        for at in (one.key.site, None):
            traces[at, one.note] = traces.get((at, one.note), 0) + one.born
    rows = [
        Built(one.note, one.key.site, one.born,
              traces.get((one.key.site, one.note)) or traces.get((None, one.note), 0), one.seconds, one.bytes)
        for one in builds
    ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (row.builds, row.site, row.function, row.seconds), reverse=True))


def open_sessions(ages: Sequence[Tuple[Site, float]]) -> Tuple[OpenSessions, ...]:
    """By line, with the age of the oldest; the most first."""
    by_line: Dict[Site, List[float]] = {}
    for site, seconds in ages:
        by_line.setdefault(site, []).append(seconds)
    rows = [OpenSessions(site, len(seconds), max(seconds)) for site, seconds in by_line.items()]
    return tuple(sorted(rows, key=lambda row: -row.open))
