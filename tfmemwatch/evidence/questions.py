"""The questions of the hypotheses, answered by the instruments; each answer is kept for one round."""

from __future__ import annotations

import time
from typing import Dict, Iterator, List, Optional, Tuple

from ..explain import source
from ..explain.cuts import is_cut_at
from ..holders.bounds import collection_on
from ..holders.filling_line import line_of_names, line_on
from ..holders.items import items_at
from ..holders.search import CALLERS_SECONDS, SECONDS, Way, way_to
from ..holders.words import told
from ..model import Site
from .evidence import Holding, Named, Questions
from .holding import holding_at
from .instruments.growing_collections import GrowingCollections
from .instruments.operations_window import OperationsWindow
from .instruments.tensors import Tensors
from .instruments.values import LargeValues
from .operations import Operation

_MORE_LOOKS, _BREATH_SECONDS = 2, 0.005  # at all tensors
_SOME = 4  # of the newest tensors: about so many are looked for


class Asked:
    """What was asked in one round, and the answers."""

    def __init__(
        self, rows: Tuple[Operation, ...], operations: OperationsWindow, collections: GrowingCollections,
        tensors: Tensors, values: LargeValues, by_clock: bool,
    ) -> None:  # fmt: skip
        self._rows = rows
        self._operations = operations
        self._collections = collections
        self._tensors = tensors
        self._values = values
        self._by_clock = by_clock
        self._seconds = SECONDS if by_clock else CALLERS_SECONDS
        self._holdings: Dict[int, Optional[Holding]] = {}
        self._number: Optional[int] = None
        self._newest: Dict[int, List[int]] = {}
        self._around: List[Optional[Holding]] = []

    def questions(self) -> Questions:
        """Those that are answered here; the others are the watch's."""
        return Questions(
            weight=self._collections.weight, holding=self._holding, items=self._items, tensors=self._number_of_tensors,
            collections_of_newest=self._collections_of_newest, bytes_of_newest=self._bytes_of_newest,
            chain_of_newest=self._chain_of_newest, is_cut=lambda site: is_cut_at(site.file, site.line),
            largest_tensor=self._largest_tensor, grown_value=self._grown_value, summing=self._summing,
            registering_exits=lambda: source.using("atexit", source.project_files()),
        )  # fmt: skip

    def _near(self) -> List[Site]:
        """Lines that were seen to run operations."""
        rows = self._rows or (self._operations.read() if self._operations.is_open else [])
        return [row.site for row in rows]

    def _summing(self) -> Optional[Site]:
        return source.summed_up(row.site for row in self._rows)

    def _holding(self, collection: int) -> Optional[Holding]:
        if collection not in self._holdings:
            way = self._collections.way(collection)
            self._holdings[collection] = None if way is None else self._at(way)
        return self._holdings[collection]

    def _at(self, way: Way, with_bound: bool = True) -> Optional[Holding]:
        found = holding_at(way, self._near(), with_bound)
        if found is None or found.is_bounded:
            return found
        return found._replace(is_as_long_as_before=self._collections.is_as_long_as_before(way))

    def _items(self, collection: int) -> str:
        way = self._collections.way(collection)
        return "" if way is None else items_at(way)

    def _number_of_tensors(self) -> int:
        """By the clock the least of some looks: what calls have in hand is no growth."""
        if self._number is None:
            self._number = self._tensors.look()
            for _ in range(_MORE_LOOKS if self._by_clock else 0):
                time.sleep(_BREATH_SECONDS)
                self._number = min(self._number, self._tensors.look())
        return self._number

    def _newest_tensors(self, more: int) -> List[int]:
        if more not in self._newest:
            self._newest[more] = self._tensors.newest(more)
        return self._newest[more]

    def _collections_of_newest(self, more: int) -> Iterator[Optional[Holding]]:
        """The collections around some of those that came last; each is looked for when it is asked for."""
        some = self._newest_tensors(more)[:: max(1, more // _SOME)]
        for index, tensor in enumerate(some):
            if index >= len(self._around):
                way = self._way_to([tensor])
                collection = collection_on(way) if way is not None else None
                found = self._at(collection, with_bound=False) if collection is not None else None
                self._around.append(found)
            yield self._around[index]

    def _chain_of_newest(self, more: int) -> Optional[Named]:
        way = self._way_to(self._newest_tensors(more))
        path = told(way) if way is not None else ""
        return Named(path, line_on(path, self._near()))

    def _largest_tensor(self, least: float) -> Optional[str]:
        way = self._way_to(self._tensors.largest(least))
        return None if way is None else told(way)

    def _grown_value(self, least: float) -> Optional[Named]:
        value = self._values.look(least)
        return None if value is None else Named(value.path, line_of_names([value.name], self._near()))

    def _bytes_of_newest(self, more: int) -> int:
        return self._tensors.bytes_of(self._newest_tensors(more))

    def _way_to(self, things: List[int]) -> Optional[Way]:
        return way_to(things, self._seconds)
