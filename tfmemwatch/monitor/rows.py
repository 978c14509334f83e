"""Counts to the rows of a report: what was made, traced, built and opened between two readings. Pure."""

from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..catalog import BY_KIND
from ..model import Key, Site, Tally
from ..reports import Built, Made, OpenSessions, Traced

Tallies = Mapping[Key, Tally]
_TRACES = ("trace", "retrace")
_MADE = frozenset(BY_KIND) - {*_TRACES, "xla_build", "session_closed", "writer_closed"}  # these have rows of their own


class _Change(NamedTuple):
    """What has happened at one line between two readings."""

    key: Key
    note: str
    born: int
    died: int
    live_bytes: int
    bytes: int
    seconds: float


def _changes(before: Tallies, after: Tallies, kinds: Iterable[str]) -> List[_Change]:
    wanted = frozenset(kinds)
    return [_change(before.get(key), tally) for key, tally in after.items() if key.kind in wanted]


def _change(old: Optional[Tally], new: Tally) -> _Change:
    if old is None:
        return _Change(new.key, new.note, new.born, new.died, new.live_bytes, new.bytes, new.seconds)
    return _Change(
        new.key, new.note, new.born - old.born, new.died - old.died, new.live_bytes - old.live_bytes,
        new.bytes - old.bytes, new.seconds - old.seconds,
    )  # fmt: skip


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
    traces: Dict[Tuple[Optional[Site], str], int] = {}
    for one in _changes(before, after, _TRACES):
        for at in (one.key.site, None):
            traces[at, one.note] = traces.get((at, one.note), 0) + one.born
    rows = [
        Built(one.note, one.key.site, one.born,
              traces.get((one.key.site, one.note)) or traces.get((None, one.note), 0), one.seconds, one.bytes)
        for one in _changes(before, after, ("xla_build",))
        if one.born
    ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (row.builds, row.site, row.function, row.seconds), reverse=True))


def open_sessions(ages: Sequence[Tuple[Site, float]]) -> Tuple[OpenSessions, ...]:
    """By line, with the age of the oldest; the most first."""
    by_line: Dict[Site, List[float]] = {}
    for site, seconds in ages:
        by_line.setdefault(site, []).append(seconds)
    rows = [OpenSessions(site, len(seconds), max(seconds)) for site, seconds in by_line.items()]
    return tuple(sorted(rows, key=lambda row: -row.open))
