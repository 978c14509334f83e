"""glibc's malloc: what it has handed out, what it keeps, what a trim would give back."""

from __future__ import annotations

import ctypes
import re
import time
from typing import Any, Optional

from .allocator import PAGE_BYTES, Allocator, Heap
from .c_file import written
from .free_pieces import free_pieces

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS]


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in _FIELDS]


_SLOW_SECONDS = 0.004  # for one reading: from then on there are few
_MOST_SECONDS = 0.02  # for one reading: from then on there is none
_SHARE = 0.001  # of the time, for slow readings
_PIECE_SECONDS = 0.25e-6  # that a reading takes for each free piece at most: what is beyond is none of its doing
_MANY_PIECES = 16000  # from which on readings are timed
_MOST_PIECES = 150000  # before the first reading: it would take some 30 ms


class Glibc(Allocator):
    """glibc: an arena for each few threads; it gives back only what lies at the end of one, unless it is trimmed.

    It counts its free pieces one by one, and whoever allocates in that arena meanwhile stands still. There is no other
    way to ask (`mallinfo2`, `malloc_info` and `malloc_stats` all do), and none to stop it. So what a reading takes says
    when the next one may be; and before the first one of a large heap, some of it is looked at (`free_pieces`).
    """

    name = "glibc"
    heap_is_named = True

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._library = library
        self._is_whole = False  # it has few free pieces, as far as is known
        self._is_known = False  # how many, about
        self._last = Heap(None, None)
        self._next = 0.0  # when a slow reading may be repeated
        for name, result in (("mallinfo2", _Mallinfo2), ("mallinfo", _Mallinfo)):
            function = getattr(library, name, None)
            if function is not None:
                function.restype, function.argtypes = result, []
                self._info = function
                return
        raise AttributeError("it has no mallinfo")

    def read(self) -> Heap:
        if not self._is_whole:
            return self._read_with_care()
        info = self._info()
        if info.ordblks > _MANY_PIECES:
            self._is_whole = False
            if info.ordblks > _MOST_PIECES:
                return self._no_more(info.ordblks)
        return _heap(info)

    def read_now(self) -> Heap:
        self._next = 0.0
        return self.read()

    def _read_with_care(self) -> Heap:
        if self.is_slow and (self.off or time.monotonic() < self._next):
            return self._last
        if not self._is_known:
            self._is_known = True
            pieces = free_pieces()
            if pieces > _MOST_PIECES:
                return self._no_more(pieces)
        began = time.thread_time()  # not the clock's, which goes on while the machine does something else
        info = self._info()
        took = time.thread_time() - began
        self._last = _heap(info)
        pieces = unsigned(info.ordblks) + unsigned(info.smblks)
        self._is_whole = pieces <= _MANY_PIECES
        self._weighed(took, pieces)
        return self._last

    def _weighed(self, took: float, pieces: int) -> None:
        """How soon there is another reading, when one with so many free pieces took so long."""
        took = min(took, pieces * _PIECE_SECONDS)
        if took > _MOST_SECONDS:
            self._no_more(pieces)
        self.is_slow = took > _SLOW_SECONDS
        self._next = time.monotonic() + took / _SHARE

    def _no_more(self, pieces: int) -> Heap:
        self.is_slow = True
        self.off = (
            "malloc in use is not known: its heap has some %d,000 free pieces, and counting them would stop those who "
            "allocate; resident memory is used instead" % (pieces // 1000)
        )
        self._last = Heap(None, None)
        return self._last

    def returnable_bytes(self, not_resident_bytes: int = 0) -> Optional[int]:
        if self.is_slow:
            return None
        text = written(self._library, lambda file: self._library.malloc_info(0, file))
        return None if text is None else max(0, whole_pages_bytes(text) - not_resident_bytes)

    def trim(self) -> bool:
        trim = getattr(self._library, "malloc_trim", None)
        if trim is None:
            return False
        trim.argtypes = [ctypes.c_size_t]
        trim(0)
        return True


def _heap(info: Any) -> Heap:
    mapped = unsigned(info.hblkhd)
    return Heap(unsigned(info.uordblks) + mapped, unsigned(info.fordblks), mapped)


def unsigned(number: int) -> int:
    """The old mallinfo counts in 32 bits and wraps: right below 4 GB, and as a difference always."""
    return number if number >= 0 else number + (1 << 32)


_HEAP = re.compile(r"<heap nr=.*?</heap>", re.S)
_FREE = re.compile(r'<(?:size|unsorted) from="\d+" to="\d+" total="(\d+)" count="(\d+)"/>')
_REST = re.compile(r'<total type="rest" count="\d+" size="(\d+)"/>')
_CHUNK_HEADER_BYTES = 48  # of a free chunk, which a trim leaves in place


def whole_pages_bytes(text: str) -> int:
    """What of the free chunks in the XML of `malloc_info` are whole pages: those a trim gives back."""
    pages = 0.0
    for heap in _HEAP.findall(text):
        rows = [(int(total), int(count)) for total, count in _FREE.findall(heap)]
        pages += sum(count * _pages_within(total / count) for total, count in rows if count)
        # What the rest has beyond its bins is the free end of the heap; a trim leaves one page of it.
        top = sum(map(int, _REST.findall(heap))) - sum(total for total, _ in rows)
        pages += max(0, top // PAGE_BYTES - 1)
    return int(pages * PAGE_BYTES)


def _pages_within(size: float) -> float:
    """How many whole pages a free chunk has in it, on average over where it may begin."""
    return max(0.0, (size - _CHUNK_HEADER_BYTES) / PAGE_BYTES - 1.0)
