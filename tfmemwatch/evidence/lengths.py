"""How long the collections are that the program's names lead to: one reading, of which ids and numbers are kept."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import Dict, NamedTuple, Optional, Tuple

from ..holders.roots import mine, of_file
from ..holders.search import Met, Way, look_through, searches
from ..model import Site
from ..safety import guard

SECONDS = 0.5  # of the processor, for a search from the program's names, where they lead to so much
_FEWEST = 3  # items more, below which a collection is not asked about


class Lengths(NamedTuple):
    """How long the collections are that the program's names lead to."""

    things: Tuple[array[int], ...]
    lengths: Tuple[array[int], ...]
    left_out: str = ""  # why nothing was read
    met: Tuple[Met, ...] = ()

    def by_id(self) -> Dict[int, int]:
        """The length of each thing; 0 of what is empty, or no collection."""
        return dict(zip(chain.from_iterable(self.things), chain.from_iterable(self.lengths)))

    def way_to(self, thing: int) -> Optional[Way]:
        """The way to one of them."""
        return next(filter(None, (met.way_to(thing) for met in self.met)), None)


def read(near: Site, seconds: float = SECONDS) -> Lengths:
    """Measure the collections.

    In a large program, or among thousands of tests, the time may not do for all: those of the block's own module are
    measured by themselves then.
    """
    guard.disturbed()
    try:
        met: Tuple[Met, ...] = (look_through(mine(near.file), with_locals=True, enter_frameworks=False),)
        if met[0].is_cut:
            nearest = look_through(of_file(near.file), with_locals=True, enter_frameworks=False)
            met = (nearest, *searches(((mine, False),), (), seconds))
        measured = [one.measured() for one in met]
        return Lengths(tuple([row[0] for row in measured]), tuple([row[1] for row in measured]), "", met)
    finally:
        guard.disturbed()


def longer(before: Lengths, now: Lengths) -> Dict[int, int]:
    """The collections that were there before and have become longer: their lengths, by id."""
    old = before.by_id()
    rows = now.by_id().items()
    return {one: length for one, length in rows if one in old and length >= old[one] + _FEWEST}
