"""What was alive and what memory was, in a few moments of any length of time."""

from __future__ import annotations

from typing import Callable, Dict, Mapping, Tuple, Union

from ..growth.history import History, Timeline
from ..memory.process import Memory
from ..model import Key, Tally
from ..reports import Moment

_NOT_KEPT = Moment(0.0, None, None, {})


class Moments:
    """At most so many: with a `History` evenly spread, with a `Timeline` the last ones all.

    Only for those that are kept anything is read.
    """

    def __init__(self, kept: Union[History[Moment], Timeline[Moment]]) -> None:
        self._kept = kept
        self._alive: Mapping[str, int] = {}  # as it was last

    def look(self, at: float, memory: Callable[[], Memory], tallies: Callable[[], Mapping[Key, Tally]]) -> None:
        """Take one look, at so many seconds or steps since the beginning."""
        self._kept.add(self._moment(at, memory(), tallies()) if self._kept.is_due else _NOT_KEPT)

    def _moment(self, at: float, memory: Memory, tallies: Mapping[Key, Tally]) -> Moment:
        found = moment_of(at, memory, tallies)
        if found.alive != self._alive:  # what stands still is kept once
            self._alive = found.alive
        return found._replace(alive=self._alive)

    @property
    def kept(self) -> Tuple[Moment, ...]:
        """The earliest first."""
        return self._kept.values


def moment_of(at: float, memory: Memory, tallies: Mapping[Key, Tally]) -> Moment:
    """What was alive and what memory was at this moment."""
    alive: Dict[str, int] = {}
    variables_bytes = 0
    for key, tally in tallies.items():
        if tally.alive:
            alive[key.kind] = alive.get(key.kind, 0) + tally.alive
        if key.kind == "variable":
            variables_bytes += tally.live_bytes
    return Moment(
        at, memory.resident_bytes, memory.in_use_bytes, alive, memory.kept_bytes, memory.python_blocks, variables_bytes
    )
