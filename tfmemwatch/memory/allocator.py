"""What an allocator says of itself, and one that says nothing."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Heap(NamedTuple):
    """What an allocator says of itself; None where it does not say."""

    in_use_bytes: Optional[int]  # handed out and not got back
    kept_bytes: Optional[int]  # free, but not given back to the system
    mapped_bytes: int = 0  # of those in use: in mappings of their own, which go back at once when freed


class Allocator:
    """An allocator that can't be asked: resident memory stands in for what is in use."""

    name = "unknown"
    heap_is_named = False  # whether the kernel's list of mappings shows which ones are its heap
    is_slow = False  # whether an answer takes so long that it is asked for seldom, and never within a call

    def __init__(self, off: str = "") -> None:
        self.off = off

    def read(self) -> Heap:
        """What is in use and what is kept, in microseconds."""
        return Heap(None, None)

    def read_now(self) -> Heap:
        """The same for a person who asks: not what was read some time ago, where a reading can be made at all."""
        return self.read()

    def returnable_bytes(self, not_resident_bytes: int = 0) -> Optional[int]:
        """About what `trim` would give back; of what is free, so much is known to be given back already."""
        return None

    def trim(self) -> bool:
        """Give free memory back to the system; False where that can't be asked for."""
        return False
