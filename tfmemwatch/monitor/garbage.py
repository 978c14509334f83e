"""What is suspected may be garbage that waits for a collection: how that is known where one would take too long."""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, Set

from ..evidence import census
from ..heap import collector
from ..holders.search import SECONDS
from ..model import Key, Tally

_ALMOST_ALL = 0.9  # one function that is made, traced, traced once more and dropped has half
_MOST_DOUBTED = 240  # looks that a slow rise waits for a collection of the program's own


class _Doubt:
    __slots__ = ("full", "looks", "value")

    def __init__(self, value: int) -> None:
        self.full = collector.full_collections()
        self.value = value
        self.looks = 0


class GarbageDoubts:
    """Counts that may be garbage, where a full collection would stop the program for too long.

    They are none when they have outlived a collection of the program's own, or a name of the program's leads to what is
    counted. What has doubled meanwhile is told all the same.
    """

    def __init__(self) -> None:
        self._open: Dict[Key, _Doubt] = {}
        self.untested: Set[Key] = set()  # what was told before a full collection

    def clear(self) -> None:
        """Nothing is suspected."""
        self._open.clear()

    def forget_all_but(self, suspects: Set[Key]) -> None:
        """Only these still are."""
        self._open = {key: doubt for key, doubt in self._open.items() if key in suspects}

    def is_doubted(self, key: Key, tallies: Mapping[Key, Tally], living: Callable[[Key], List[int]]) -> bool:
        """Whether it may be garbage."""
        tally = tallies.get(key)
        alive = tally.alive if tally is not None else 0
        if _is_kept_by_its_function(key, tallies):
            return False
        doubt = self._open.get(key)
        if doubt is None:
            doubt = self._open[key] = _Doubt(alive)
        doubt.looks += 1
        if collector.full_collections() > doubt.full:
            self.untested.discard(key)
            return False
        if alive >= 2 * doubt.value:
            self.untested.add(key)
            return False
        if doubt.looks & (doubt.looks - 1):  # a search costs much: at the first look, the second, the fourth, ...
            return True
        things = living(key)
        return bool(things) and not census.is_reachable(things, SECONDS)


def _is_kept_by_its_function(key: Key, tallies: Mapping[Key, Tally]) -> bool:
    """Whether these are graphs of functions that were traced again: what is called on lives, and drops no trace."""
    graphs, again = tallies.get(key), tallies.get(Key("retrace", key.site))
    if key.kind != "function_graph" or graphs is None or again is None:
        return False
    return graphs.died == 0 and again.born >= _ALMOST_ALL * graphs.born


class ByteDoubts:
    """The same for bytes in use: the program's own collection is waited for, but not for ever."""

    def __init__(self) -> None:
        self._full = collector.full_collections()
        self._looks = 0

    def clear(self) -> None:
        """Nothing is suspected."""
        self._looks = 0

    def is_doubted(self) -> bool:
        """Take one look; whether no collection has run since the first one."""
        full = collector.full_collections()
        if not self._looks:
            self._full = full
        self._looks += 1
        return full == self._full and self._looks < _MOST_DOUBTED
