"""Collections that the program's names lead to, and that became longer: how their lengths go from look to look."""

from __future__ import annotations

from typing import Dict, FrozenSet, List, Optional

from ...holders.search import Way
from ...holders.steps import length_at
from ...safety import guard
from .. import census
from ..evidence import Collection
from ..growing_collection import GrowingCollection

_LONG = 64  # items of a collection whose length is remembered for a whole inquiry
_KEEP_BEFORE = 24  # looks before which the lengths of all are kept for another comparison
_NO_CENSUS = census.Census({}, 0)


class GrowingCollections:
    """Costs three searches from the program's names (0.3 s of the processor each, in short calls), and a length a look.

    Ids and lengths are held, nothing of the program's.
    """

    def __init__(self) -> None:
        self._before = _NO_CENSUS
        self._long: Dict[int, int] = {}
        self._growing: List[GrowingCollection] = []
        self._is_open = False

    def open(self, tensor: Optional[type]) -> int:
        """Measure all; how many eager tensors there are comes with it."""
        self._is_open = True
        self._growing = []
        self._before = census.take(tensor)._replace(met=())
        self._long = {key: length for key, length in self._before.lengths.items() if length >= _LONG}
        return self._before.tensors

    def look(self) -> None:
        """Ask how long those that grow are now; those that have gone are left out."""
        for one in self._growing:
            one.look()
        self._growing = [one for one in self._growing if not one.has_gone]

    def find(self, looks: int) -> None:
        """Measure all again: what is longer is looked at from now on.

        The second time against the first: what was still short then is long enough now. Then nothing is kept: the
        lengths weigh some megabytes, which would be taken for the program's.
        """
        after = census.take()
        known = {one.id for one in self._growing}
        for one in census.grown(self._before, after, max(2, looks // 6)):
            if one.way.steps[-1] not in known:
                self._growing.append(GrowingCollection(one.way, one.length))
        self._before = after._replace(met=()) if looks < _KEEP_BEFORE else _NO_CENSUS
        guard.disturbed()

    def close(self) -> None:
        """Let go of everything."""
        self._growing = []
        if self._is_open:
            self._before = _NO_CENSUS
            self._is_open = False
            guard.disturbed()

    def rows(self) -> List[Collection]:
        """Those that grow, as they are now."""
        return [one.row() for one in self._growing]

    def weight(self, collection: int) -> census.Weight:
        """What one more item of it costs."""
        one = self._one(collection)
        return census.Weight(0.0, 0.0) if one is None else one.weight

    def keeps_any(self, collection: int, things: FrozenSet[int]) -> bool:
        """Whether the items that have come keep things with these ids."""
        one = self._one(collection)
        return one is not None and bool(things) and census.keeps_any(one.way, one.grown, things)

    def way(self, collection: int) -> Optional[Way]:
        """Where it is."""
        one = self._one(collection)
        return None if one is None else one.way

    def is_as_long_as_before(self, way: Way) -> bool:
        """Whether a long collection has as many items as when the inquiry began."""
        thing = way.steps[-1]
        return thing in self._long and self._long[thing] == length_at(way)

    def _one(self, collection: int) -> Optional[GrowingCollection]:
        return next((one for one in self._growing if one.id == collection), None)
