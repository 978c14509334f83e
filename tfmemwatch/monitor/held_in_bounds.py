"""Counted things that a collection with a bound holds, such as a cache of models: until it is full they are no leak."""

from __future__ import annotations

import time
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..evidence.holding import holding_at
from ..headline import Growing
from ..heap.instances import ids_alive
from ..holders.bounds import bounded_on, collections_on
from ..holders.search import SECONDS, Way, way_to
from ..holders.steps import length_at
from ..judge.judge import Draft
from ..ledger.counts import Ledger
from ..model import Finding, Key, Site
from ..units import count_of
from .readings import Readings

# The things of a kind of finding, by which its holder is found.
HELD = {
    "variable": ("variable", "graph_variable"),
    "model_rebuild": ("model",),
    "session_unclosed": ("session",),
    "graph_growth": ("graph",),
    "dataset_iterator": ("iterator",),
    "tape": ("tape",),
    "function_library": ("function",),
}
_SOME = 2  # of the things of a finding: of more, those that have lived for longest but one are looked for
_BEYOND, _FEW = 1.25, 8  # times the bound, and things more, that may be there before it is cut
_AGAIN = 1.25  # times as many things, after which it is asked again
_MOST = 200  # findings that are remembered
_SECONDS_IN_ALL = 1.0  # for all that a block has left behind
_SHARE = 0.5  # of what is left below the limit, that they may take until the collection is full


def examples(ledger: Ledger, kinds: Sequence[str], site: Site) -> Sequence[int]:
    """The ids of some things made at a line; what holds the newest alone does not hold what has grown."""
    references = ledger.references_at(kinds, site)
    return ids_alive(references[1:3] if len(references) > _SOME else references)


class _Room(NamedTuple):
    """In the collection that holds the things of a finding, when it was asked."""

    holder: str = ""
    items: int = 0
    bound: int = 0  # 0 where nothing is known to bound it
    things: float = 0.0  # that there were

    @property
    def most(self) -> float:
        """How many things may be there."""
        each = max(1.0, self.things / max(1, self.items))
        return each * (_BEYOND * self.bound + _FEW) if self.bound else 0.0


_NOT_ASKED = _Room()


class HeldInBounds:
    """Says of a finding whether the collection that holds its things has a bound, and is not full."""

    def __init__(self, readings: Readings, may_look: bool) -> None:
        self._readings = readings
        self._may_look = may_look
        self._rooms: Dict[Tuple[str, Site], _Room] = {}  # by finding
        self.growing: Optional[Growing] = None  # what waited the last time that findings were made

    def of(self, drafts: Sequence[Draft]) -> List[Draft]:
        """Those that wait."""
        waiting = [one for one in drafts if self._waits(one.finding)]
        self.growing = self._said(waiting[0].finding) if waiting else None
        return waiting

    def held(self, left: Mapping[Key, int]) -> FrozenSet[Key]:
        """Of so many things by kind and line, those that collections hold which are not full; in one second in all."""
        ends = time.thread_time() + _SECONDS_IN_ALL
        found = set()
        for key, number in left.items() if self._may_look else ():
            seconds = min(SECONDS, ends - time.thread_time())
            if seconds > 0 and self._room((key.kind,), key.site, number, seconds).most >= number:
                found.add(key)
        return frozenset(found)

    def _waits(self, finding: Finding) -> bool:
        """Whether there are no more of them than the collection takes, and these fit into what is left."""
        kinds = HELD.get(finding.kind) if self._may_look else None
        room = self._rooms.get(finding.story, _NOT_ASKED)
        if kinds is None or (not room.things and len(self._rooms) >= _MOST):
            return False
        if finding.grown > room.most and finding.grown >= _AGAIN * room.things and self._readings.may_take_evidence():
            room = self._rooms[finding.story] = self._room(kinds, finding.site, finding.grown, SECONDS)
        if finding.grown > room.most:
            return False
        left = self._readings.left_bytes
        return left is None or finding.bytes / max(1.0, finding.grown) * room.most <= _SHARE * left

    def _said(self, finding: Finding) -> Growing:
        room = self._rooms[finding.story]
        items = round(room.items * finding.grown / max(1.0, room.things))
        what = "what %s makes goes into %s, which seems to be full at %s" % (
            finding.site.short, room.holder, count_of(room.bound)
        )  # fmt: skip
        return Growing(what, min(items, room.bound), room.bound, "item")

    def _room(self, kinds: Sequence[str], site: Site, things: float, seconds: float) -> _Room:
        way = way_to(examples(self._readings.ledger, kinds, site), seconds, site)
        room = _on(way, site) if way is not None else _NOT_ASKED
        return room._replace(things=things)


def _on(way: Way, site: Site) -> _Room:
    """The collection on a way that has a bound, or that the source may keep at a number."""
    holder = bounded_on(way)
    if holder is not None and holder.bound is not None and holder.way is not None:
        return _Room(holder.path, length_at(holder.way) or 0, holder.bound)
    for collection in collections_on(way):
        holding = holding_at(collection, (site,))
        if holding is not None and holding.may_be_filling(holding.length):
            return _Room(holding.path, holding.length, holding.may_be_kept_at)
    return _NOT_ASKED
