"""Which malloc this process has."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from .allocator import Allocator
from .glibc import Glibc
from .other_allocators import Jemalloc, Mimalloc, Tcmalloc, Zones


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
        return Allocator("malloc in use is not known: musl does not report it")
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
