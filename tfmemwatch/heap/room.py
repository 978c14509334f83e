"""How large the heap is, and how many bytes evidence about it may take."""

from __future__ import annotations

import gc
import sys
from itertools import starmap
from typing import Optional

_MOST_THINGS = 60000  # of one search
THING_BYTES = 600  # that a search takes for each of them, as measured, with four parts of each
_OBJECT_BYTES = 8  # that a look at all objects takes for each


class Room:
    """How many bytes evidence may take: never more than a small part of what is left below the limit."""

    MOST = 64 << 20
    SHARE = 0.02
    LEAST = 1 << 20  # with less there is no evidence

    def __init__(self) -> None:
        self.bytes = self.MOST

    def below(self, left_bytes: Optional[int]) -> bool:
        """So much is left below the nearest limit; whether there is room for evidence."""
        self.bytes = self.MOST if left_bytes is None else int(min(self.MOST, self.SHARE * left_bytes))
        return self.bytes >= self.LEAST

    @property
    def things(self) -> int:
        """That a search may meet."""
        return min(_MOST_THINGS, self.bytes // (2 * THING_BYTES))  # what two of them have met is compared


room = Room()  # of this process


class Size:
    """How many objects the collector knows: counted where that takes little, else as many as there may be.

    Each object that is new since they were counted takes a block of Python's at least, or a larger one of malloc's.
    """

    MOST = 400000  # objects that one call may look at: TensorFlow alone has 120,000 to 300,000
    COUNTED = 800000  # that may be counted: 40 to 60 ns each
    COUNTED_WHEN_ASKED = 2000000

    def __init__(self) -> None:
        self._counted: Optional[int] = None
        self._blocks = 0

    @property
    def objects(self) -> Optional[int]:
        """About how many there are, and no fewer; None where it would take too long to find out."""
        return self._at_most(self.COUNTED)

    def _at_most(self, countable: int) -> Optional[int]:
        now = python_blocks()
        if self._counted is None:  # of two blocks one is an object, as like as not
            return self.count() if now <= 2 * countable else None
        most = self._counted + max(0, now - self._blocks)
        return self.count() if self.MOST < most <= countable and now != self._blocks else most

    def too_large(self, most: int = MOST, asked: bool = False) -> str:
        """Why one call may not look at all objects; empty where one may."""
        objects = self._at_most(self.COUNTED_WHEN_ASKED if asked else self.COUNTED)
        if objects is None:
            return "there are too many Python objects to look at all of them"
        if objects * _OBJECT_BYTES > room.bytes:
            return "too little memory is left to look at all Python objects"
        if objects > most:
            return "there are about %s Python objects, too many to look at all of them" % format(objects, ",")
        return ""

    def count(self) -> int:
        """Count them, whatever that takes."""
        self._counted, self._blocks = sum(map(len, starmap(gc.get_objects, ((),)))), python_blocks()
        return self._counted


def python_blocks() -> int:
    """Python's small blocks; 0 where this Python does not count them."""
    return int(getattr(sys, "getallocatedblocks", lambda: 0)())


heap_size = Size()  # of this process
