"""Counted things that a collection with a bound holds, such as a cache of models: until it is full they are no leak."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple

from ..evidence.holding import holding_at
from ..heap.instances import ids_alive
from ..holders.bounds import bounded_on, collections_on
from ..holders.search import SECONDS, Way, way_to
from ..holders.steps import length_at
from ..ledger.counts import Ledger
from ..model import Finding, Site
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
_MOST = 200  # findings that wait
_SHARE = 0.5  # of what is left below the limit, that they may take until the collection is full


def examples(ledger: Ledger, kinds: Sequence[str], site: Site) -> Sequence[int]:
    """The ids of some things made at a line; what holds the newest alone does not hold what has grown."""
    references = ledger.references_at(kinds, site)
    return ids_alive(references[1:3] if len(references) > _SOME else references)


class HeldInBounds:
    """Says of a finding whether the collection that holds its things has a bound, and is not full."""

    def __init__(self, readings: Readings, may_look: bool) -> None:
        self._readings = readings
        self._may_look = may_look
        self._asked: Dict[Tuple[str, Site], Tuple[float, float]] = {}  # by finding: things that may be there, and were

    def waits(self, finding: Finding) -> bool:
        """Whether there are no more of them than the collection takes, and these fit into what is left."""
        kinds = HELD.get(finding.kind) if self._may_look else None
        most, asked_at = self._asked.get(finding.story, (0.0, 0.0))
        if kinds is None or (not asked_at and len(self._asked) >= _MOST):
            return False
        if finding.grown > most and finding.grown >= _AGAIN * asked_at and self._readings.may_take_evidence():
            most = self._room(kinds, finding.site, finding.grown)
            self._asked[finding.story] = most, finding.grown
        if finding.grown > most:
            return False
        left = self._readings.left_bytes
        return left is None or finding.bytes / max(1.0, finding.grown) * most <= _SHARE * left

    def holds(self, kind: str, site: Site, number: int) -> bool:
        """Whether so many things of a kind that were made at a line are in a collection that is not full."""
        return self._may_look and self._room((kind,), site, number) >= number

    def _room(self, kinds: Sequence[str], site: Site, number: float) -> float:
        """How many of these things may be there; none where nothing is known to bound what holds them."""
        way = way_to(examples(self._readings.ledger, kinds, site), SECONDS, site)
        bound, length = _bound_on(way, site) if way is not None else (0, 0)
        each = max(1.0, number / max(1, length))  # things in one item
        return each * (_BEYOND * bound + _FEW) if bound else 0.0


def _bound_on(way: Way, site: Site) -> Tuple[int, int]:
    """The bound of a collection on a way, or the number at which the source may keep it; and its length."""
    holder = bounded_on(way)
    if holder is not None and holder.bound is not None and holder.way is not None:
        return holder.bound, length_at(holder.way) or 0
    for collection in collections_on(way):
        holding = holding_at(collection, (site,))
        if holding is not None and holding.may_be_filling(holding.length):
            return holding.may_be_kept_at, holding.length
    return 0, 0
