"""What the process holds: resident, malloc in use and kept, Python's own. What can't be read is None, and says why."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Callable, NamedTuple, Optional, Tuple

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Memory(NamedTuple):
    """One reading of the process."""

    resident_bytes: Optional[int]
    in_use_bytes: Optional[int]  # malloc blocks that somebody holds
    kept_bytes: Optional[int]  # free, but not given back to the system
    python_blocks: int

    @property
    def held_bytes(self) -> Optional[int]:
        """What is in use, Python's small objects included; never what an allocator merely keeps."""
        if self.in_use_bytes is None:
            return self.resident_bytes
        return self.in_use_bytes + self.python_blocks * PYTHON_BLOCK_BYTES


PYTHON_BLOCK_BYTES = 90  # a mean block of pymalloc, as measured over the cases


_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS]


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in _FIELDS]


def _mallinfo() -> Tuple[Optional[Callable[[], Any]], str]:
    try:
        libc = ctypes.CDLL(None)
    except (OSError, TypeError) as error:
        return None, "malloc in use is not known: no C library can be opened (%s)" % error
    for name, result in (("mallinfo2", _Mallinfo2), ("mallinfo", _Mallinfo)):
        function = getattr(libc, name, None)
        if function is not None:
            function.restype = result
            function.argtypes = []
            return function, ""
    return None, "malloc in use is not known: this C library has no mallinfo (musl, macOS)"


class Process:
    """The memory of this process, read through one kept file descriptor."""

    def __init__(self, proc: str = "/proc") -> None:
        self._path = os.path.join(proc, "self", "statm")
        self._statm = -1
        self._mallinfo, self._no_mallinfo = _mallinfo()
        self._no_statm = ""
        self.open()

    @property
    def off(self) -> str:
        """What can't be read here, and why; empty where all can."""
        return "; ".join(filter(None, (self._no_statm, self._no_mallinfo)))

    def open(self) -> None:
        """Open the file anew: in a forked child the old one still speaks of the parent."""
        self.close()
        try:
            self._statm = os.open(self._path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            self._no_statm = "resident memory is not known: %s" % error

    def close(self) -> None:
        """Give the file descriptor back."""
        if self._statm >= 0:
            os.close(self._statm)
            self._statm = -1

    def resident_bytes(self) -> Optional[int]:
        """Resident memory, in about a microsecond."""
        if self._statm < 0:
            return None
        return int(os.pread(self._statm, 64, 0).split()[1]) * _PAGE

    def in_use_bytes(self) -> Optional[int]:
        """What malloc has handed out and not got back."""
        if self._mallinfo is None:
            return None
        info = self._mallinfo()
        return _unsigned(info.uordblks) + _unsigned(info.hblkhd)

    def read(self) -> Memory:
        """All of it at one moment."""
        in_use = kept = None
        if self._mallinfo is not None:
            info = self._mallinfo()
            in_use = _unsigned(info.uordblks) + _unsigned(info.hblkhd)
            kept = _unsigned(info.fordblks)
        blocks = getattr(sys, "getallocatedblocks", lambda: 0)()
        return Memory(self.resident_bytes(), in_use, kept, blocks)


def _unsigned(number: int) -> int:
    """The old mallinfo counts in 32 bits and wraps: right below 4 GB, and as a difference always."""
    return number if number >= 0 else number + (1 << 32)
