"""The allocators beside glibc's, each read through its own statistics."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from .allocator import Allocator, Heap


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
        super().__init__("malloc in use is not known: mimalloc does not report it; resident memory is used instead")
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
