"""What was alive and what memory was, in a few moments of any length of time."""

from __future__ import annotations

from typing import Callable, Dict, Mapping, Tuple

from ..growth.history import History
from ..memory.process import Memory
from ..model import Key, Tally
from ..reports import Moment

_NOT_KEPT = Moment(0.0, None, None, {})


class Moments:
    """At most so many, evenly spread over all looks. Only for those that are kept anything is read."""

    def __init__(self) -> None:
        self._kept: History[Moment] = History()

    def look(self, at: float, memory: Callable[[], Memory], tallies: Callable[[], Mapping[Key, Tally]]) -> None:
        """Take one look, at so many seconds or steps since the beginning."""
        self._kept.add(_moment(at, memory(), tallies()) if self._kept.is_due else _NOT_KEPT)

    @property
    def kept(self) -> Tuple[Moment, ...]:
        """The earliest first."""
        return self._kept.values


def alive_of(tallies: Mapping[Key, Tally]) -> Dict[str, int]:
    """How many there are now, by kind."""
    alive: Dict[str, int] = {}
    for key, tally in tallies.items():
        if tally.alive:
            alive[key.kind] = alive.get(key.kind, 0) + tally.alive
    return alive


def _moment(at: float, memory: Memory, tallies: Mapping[Key, Tally]) -> Moment:
    return Moment(at, memory.resident_bytes, memory.in_use_bytes, alive_of(tallies))
