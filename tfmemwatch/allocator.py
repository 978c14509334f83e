"""The malloc of this process: which one it is, what it has handed out, what it keeps, what a trim would give back."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Heap(NamedTuple):
    """What an allocator says of itself; None where it does not say."""

    in_use_bytes: Optional[int]  # handed out and not got back
    kept_bytes: Optional[int]  # free, but not given back to the system
    mapped_bytes: int = 0  # of those in use: in mappings of their own, which go back at once when freed


class Allocator:
    """One that can't be asked: resident memory stands in for what is in use."""

    name = "unknown"
    heap_is_named = False  # whether the kernel's list of mappings shows which ones are its heap

    def __init__(self, off: str = "") -> None:
        self.off = off

    def read(self) -> Heap:
        """What is in use and what is kept, in microseconds."""
        return Heap(None, None)

    def returnable_bytes(self, not_resident_bytes: int = 0) -> Optional[int]:
        """About what `trim` would give back; of what is free, so much is known to be given back already."""
        return None

    def trim(self) -> bool:
        """Give free memory back to the system; False where that can't be asked for."""
        return False


# -- glibc

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS]


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in _FIELDS]


class Glibc(Allocator):
    """glibc: an arena for each few threads; it gives back only what lies at the end of one, unless it is trimmed."""

    name = "glibc"
    heap_is_named = True

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._library = library
        for name, result in (("mallinfo2", _Mallinfo2), ("mallinfo", _Mallinfo)):
            function = getattr(library, name, None)
            if function is not None:
                function.restype, function.argtypes = result, []
                self._info = function
                return
        raise AttributeError("it has no mallinfo")

    def read(self) -> Heap:
        info = self._info()
        mapped = unsigned(info.hblkhd)
        return Heap(unsigned(info.uordblks) + mapped, unsigned(info.fordblks), mapped)

    def returnable_bytes(self, not_resident_bytes: int = 0) -> Optional[int]:
        text = written(self._library, lambda file: self._library.malloc_info(0, file))
        return None if text is None else max(0, whole_pages_bytes(text) - not_resident_bytes)

    def trim(self) -> bool:
        trim = getattr(self._library, "malloc_trim", None)
        if trim is None:
            return False
        trim.argtypes = [ctypes.c_size_t]
        trim(0)
        return True


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


def written(library: Any, write: Callable[[Any], Any]) -> Optional[str]:
    """What a function of C writes to a file that is memory; None where there is no such file."""
    if not hasattr(library, "open_memstream"):
        return None
    library.open_memstream.restype = ctypes.c_void_p
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    file = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    if not file.value:
        return None
    try:
        write(file)
    finally:
        library.fclose(file)
    found = ctypes.string_at(text, size.value).decode("ascii", "replace")
    library.free(text)
    return found


# -- the others, each read through its own statistics


class Tcmalloc(Allocator):
    """gperftools: what is free waits in the caches of threads and in the page heap."""

    name = "tcmalloc"

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._get = library.MallocExtension_GetNumericProperty
        self._get.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        self._release = library.MallocExtension_ReleaseFreeMemory

    def _property(self, name: bytes) -> int:
        value = ctypes.c_size_t()
        return value.value if self._get(name, ctypes.byref(value)) else 0

    def read(self) -> Heap:
        in_use = self._property(b"generic.current_allocated_bytes")
        caches = (b"pageheap", b"central_cache", b"transfer_cache", b"thread_cache")
        return Heap(in_use, sum(self._property(b"tcmalloc.%s_free_bytes" % cache) for cache in caches))

    def returnable_bytes(self, not_resident_bytes: int = 0) -> Optional[int]:
        return self._property(b"tcmalloc.pageheap_free_bytes")

    def trim(self) -> bool:
        self._release()
        return True


class Jemalloc(Allocator):
    """jemalloc: pages that are free stay for some seconds, and then go back by themselves."""

    name = "jemalloc"
    _ALL_ARENAS = 4096

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._control = getattr(library, "mallctl", None) or library.je_mallctl
        self._control.argtypes = [ctypes.c_char_p] + 3 * [ctypes.c_void_p] + [ctypes.c_size_t]
        if self._statistic(b"stats.allocated") is None:
            raise AttributeError("it was built without statistics")

    def _refresh(self) -> None:
        epoch = ctypes.c_uint64(1)
        self._control(b"epoch", None, None, ctypes.byref(epoch), ctypes.sizeof(epoch))

    def _statistic(self, name: bytes) -> Optional[int]:
        value, size = ctypes.c_size_t(), ctypes.c_size_t(ctypes.sizeof(ctypes.c_size_t))
        return None if self._control(name, ctypes.byref(value), ctypes.byref(size), None, 0) else value.value

    def read(self) -> Heap:
        self._refresh()
        in_use = self._statistic(b"stats.allocated") or 0
        return Heap(in_use, max(0, (self._statistic(b"stats.resident") or 0) - in_use))

    def returnable_bytes(self, not_resident_bytes: int = 0) -> Optional[int]:
        self._refresh()
        names = (b"stats.resident", b"stats.active", b"stats.metadata")
        resident, active, own = (self._statistic(name) or 0 for name in names)
        return max(0, resident - active - own)

    def trim(self) -> bool:
        return not self._control(b"arena.%d.purge" % self._ALL_ARENAS, None, None, None, 0)


class Mimalloc(Allocator):
    """mimalloc: says what it has committed, and not what of it is in use."""

    name = "mimalloc"

    def __init__(self, library: Any) -> None:
        super().__init__("malloc in use is not known: mimalloc does not say; resident memory stands in for it")
        self._collect = library.mi_collect

    def trim(self) -> bool:
        self._collect(True)
        return True


class _ZoneStatistics(ctypes.Structure):
    _fields_ = [("blocks", ctypes.c_uint)] + [(name, ctypes.c_size_t) for name in ("in_use", "most", "allocated")]


class Zones(Allocator):
    """macOS."""

    name = "macOS malloc zones"

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._statistics = library.malloc_zone_statistics
        self._statistics.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._relief = getattr(library, "malloc_zone_pressure_relief", None)

    def read(self) -> Heap:
        found = _ZoneStatistics()
        self._statistics(None, ctypes.byref(found))
        return Heap(found.in_use, max(0, found.allocated - found.in_use))

    def trim(self) -> bool:
        if self._relief is None:
            return False
        self._relief.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._relief(None, 0)
        return True


# -- which one it is


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("at", ctypes.c_void_p),
    ]  # fmt: skip


_BY_FILE: Tuple[Tuple[str, Callable[[Any], Allocator]], ...] = (
    (r"tcmalloc", Tcmalloc),
    (r"jemalloc", Jemalloc),
    (r"mimalloc", Mimalloc),
    (r"^libc[.-]|^libc\.so", Glibc),
)
_BY_SYMBOL: Dict[str, Callable[[Any], Allocator]] = {
    "MallocExtension_GetNumericProperty": Tcmalloc,
    "mallctl": Jemalloc,
    "mi_collect": Mimalloc,
    "mallinfo2": Glibc,
    "mallinfo": Glibc,
}


def of_this_process(library: Optional[Any] = None) -> Allocator:
    """The allocator behind `malloc`, or one that says why it can't be asked."""
    if library is None:
        try:
            library = ctypes.CDLL(None)
        except (OSError, TypeError) as error:
            return Allocator("malloc in use is not known: no C library can be opened (%s)" % error)
    if sys.platform == "darwin" and hasattr(library, "malloc_zone_statistics"):
        return Zones(library)
    file = os.path.basename(file_of_malloc(library))
    if "musl" in file:
        return Allocator("malloc in use is not known: musl does not say")
    makers = [make for pattern, make in _BY_FILE if re.search(pattern, file)]
    if not makers:  # built into the program, or of no known name
        makers = [make for symbol, make in _BY_SYMBOL.items() if hasattr(library, symbol)]
    reasons: List[str] = []
    for make in makers[:1]:
        try:
            return make(library)
        except AttributeError as why:
            reasons.append("; %s" % why)
    return Allocator("malloc in use is not known: %s can't be asked%s" % (file or "this C library", "".join(reasons)))


def file_of_malloc(library: Any) -> str:
    """The file that `malloc` comes from, whatever else is mapped; empty where it can't be asked."""
    lookup = getattr(library, "dladdr", None)
    if lookup is None:
        return ""
    lookup.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    found = _DlInfo()
    if not lookup(ctypes.cast(library.malloc, ctypes.c_void_p), ctypes.byref(found)):
        return ""
    return os.fsdecode(found.file or b"")
