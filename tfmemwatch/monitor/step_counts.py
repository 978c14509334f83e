"""What a block counts at each step beside the ledger: the collections, and what of the ledger's is put into them."""

from __future__ import annotations

from typing import FrozenSet, List, Optional

from ..evidence.evidence import Holding
from ..evidence.lengths import Lengths
from ..evidence.step_collections import StepCollections
from ..headline import Growing
from ..heap.instances import ids_alive
from ..judge.judge import Draft
from ..ledger.counts import Ledger
from ..model import Site
from ..units import count_of

_HAVE_IDS = ("variable", "session", "graph", "function_graph", "function", "iterator", "tape", "writer", "model",
             "dataset_graph")  # fmt: skip
_MOST_IDS = 20000  # of each kind


class StepCounts:
    """Knows nothing, and explains nothing, until it is told to begin: only a loop with steps does."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._collections: Optional[StepCollections] = None

    def begin(self, near: Site, at_first: Lengths) -> None:
        """Count what collections have from now on, at each step."""
        self._collections = StepCollections(near, at_first, self._counted_things)

    @property
    def has_begun(self) -> bool:
        """Whether somebody marks steps, and evidence may be taken."""
        return self._collections is not None

    def measured(self, step: int, lengths: Lengths) -> None:
        """So long were all collections after this step."""
        if self._collections is not None:
            self._collections.measured(step, lengths)

    def look(self, now: float, held: float) -> bool:
        """Take one look, with so many bytes in use; True where there is something to tell."""
        return self._collections is not None and self._collections.look(int(now), held)

    @property
    def drafts(self) -> List[Draft]:
        """Collections that grow and have no bound."""
        return [Draft(finding) for finding in self._collections.findings] if self._collections is not None else []

    @property
    def growing(self) -> Optional[Growing]:
        """A collection that goes on to grow, and may have a bound."""
        row = self._collections.waiting if self._collections is not None else None
        if row is None:
            return None
        path, length, bound = row
        full = "seems to be full at %s" % count_of(bound) if bound else "may have a bound"
        return Growing("items go into %s, which %s" % (path, full), length, bound, "item")

    @property
    def keeper(self) -> Optional[Holding]:
        """The collection that keeps things which the ledger counts."""
        return self._collections.keeper if self._collections is not None else None

    def explains(self, held: float) -> bool:
        """Whether collections explain what memory shows."""
        return self._collections is not None and self._collections.explains(held)

    def _counted_things(self) -> FrozenSet[int]:
        """The ids of what lives and is counted one by one."""
        return frozenset(ids_alive([ref for kind in _HAVE_IDS for _, ref in self._ledger.references(kind, _MOST_IDS)]))
