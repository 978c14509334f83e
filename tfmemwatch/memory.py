"""What the process holds, read cheaply. What can't be read is None, and says why."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from . import allocator
from .allocator import PAGE_BYTES, Allocator


class Memory(NamedTuple):
    """One reading of the process."""

    resident_bytes: Optional[int]
    in_use_bytes: Optional[int]  # malloc blocks that somebody holds
    kept_bytes: Optional[int]  # free, but not given back to the system
    python_blocks: int
    file_bytes: Optional[int] = None  # of what is resident: programs, libraries, files, shared memory

    @property
    def held_bytes(self) -> Optional[int]:
        """What is in use, Python's small objects included; never what an allocator merely keeps.

        Nor what was only asked for: TensorFlow takes memory for its tensors in blocks that double in size, of which
        most has never been touched. What is in use can't be more than what is resident and in no file.
        """
        if self.in_use_bytes is None:
            return self.resident_bytes
        held = self.in_use_bytes + self.python_blocks * PYTHON_BLOCK_BYTES
        return held if self.own_bytes is None or self.file_bytes is None else min(held, self.own_bytes)

    @property
    def own_bytes(self) -> Optional[int]:
        """What is resident and in no file: it can't be dropped and read again, so a limit counts it in full."""
        if self.resident_bytes is None:
            return None
        return self.resident_bytes - (self.file_bytes or 0)


_READINGS, _BREATH_SECONDS = 32, 0.002


def least(read: Callable[[], float]) -> float:
    """The least of a few readings, since the program goes on meanwhile: in the middle of a call there is more.

    A thread that waits for its turn gets it when TensorFlow begins to compute, which is just such a moment.
    """
    found = read()
    for _ in range(_READINGS):
        time.sleep(_BREATH_SECONDS)
        found = min(found, read())
    return found


PYTHON_BLOCK_BYTES = 90  # a mean block of pymalloc, as measured over the cases


class PythonHeap(NamedTuple):
    """Python's small objects (up to 512 bytes), which live in arenas of their own."""

    in_use_bytes: int
    kept_bytes: int  # free blocks and pools, in arenas that something still lives in


_PYTHON_ROWS = re.compile(
    r"^(?:# )?(arenas allocated current|bytes in available blocks|\d+ unused pools \* \d+ bytes|"
    r"bytes lost to arena alignment|\d+ arenas \* \d+ bytes/arena) *= *([\d,]+)",
    re.M,
)


def python_heap(library: Any = None, python: Any = None) -> Optional[PythonHeap]:
    """The arenas of Python's own allocator, as it tells them; None where it has none, or does not tell."""
    python = getattr(ctypes, "pythonapi", None) if python is None else python
    tell = getattr(python, "_PyObject_DebugMallocStats", None)
    if tell is None:
        return None
    tell.argtypes = [ctypes.c_void_p]
    try:
        text = allocator.written(ctypes.CDLL(None) if library is None else library, tell)
    except (OSError, TypeError):
        return None
    return parsed_python_heap(text or "")


def parsed_python_heap(text: str) -> Optional[PythonHeap]:
    """Python's own statistics of its arenas, read."""
    arenas = free = None
    for name, number in _PYTHON_ROWS.findall(text):
        size = int(number.replace(",", ""))
        if "bytes/arena" in name:
            arenas = size
        elif "arenas allocated" not in name:
            free = (free or 0) + size
    if arenas is None or free is None:
        return None
    return PythonHeap(arenas - free, free)


class Process:
    """The memory of this process, read through one kept file descriptor."""

    def __init__(self, proc: str = "/proc", malloc: Optional[Allocator] = None) -> None:
        self.proc = proc
        self._path = os.path.join(proc, "self", "statm")
        self._statm = -1
        self._resident: Optional[Callable[[], int]] = None  # where there is no such file
        self.allocator = allocator.of_this_process() if malloc is None else malloc
        self._no_statm = ""
        self.open()

    @property
    def off(self) -> str:
        """What can't be read here, and why; empty where all can."""
        return "; ".join(filter(None, (self._no_statm, self.allocator.off)))

    def open(self) -> None:
        """Open the file anew: in a forked child the old one still speaks of the parent."""
        self.close()
        self._no_statm = ""
        try:
            self._statm = os.open(self._path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            self._resident, why = _psutil_resident() if self.proc == "/proc" else (None, "")
            if self._resident is None:
                self._no_statm = "resident memory is not known: %s%s" % (error, why)

    def close(self) -> None:
        """Give the file descriptor back."""
        self._resident = None
        if self._statm >= 0:
            os.close(self._statm)
            self._statm = -1

    def resident_bytes(self) -> Optional[int]:
        """Resident memory, in about a microsecond."""
        if self._statm < 0:
            return None if self._resident is None else self._resident()
        return int(os.pread(self._statm, 64, 0).split()[1]) * PAGE_BYTES

    def in_use_bytes(self) -> Optional[int]:
        """What malloc has handed out and not got back."""
        return self.allocator.read().in_use_bytes

    def read(self) -> Memory:
        """All of it at one moment, in some microseconds."""
        resident, in_files = self._statm_bytes()
        heap = self.allocator.read()
        blocks = getattr(sys, "getallocatedblocks", lambda: 0)()
        return Memory(resident, heap.in_use_bytes, heap.kept_bytes, blocks, in_files)

    def _statm_bytes(self) -> Tuple[Optional[int], Optional[int]]:
        if self._statm < 0:
            return self.resident_bytes(), None
        fields: List[bytes] = os.pread(self._statm, 96, 0).split()
        return int(fields[1]) * PAGE_BYTES, int(fields[2]) * PAGE_BYTES


def _psutil_resident() -> Tuple[Optional[Callable[[], int]], str]:
    """Resident memory where there is no /proc: a system call behind psutil."""
    try:
        import psutil

        process = psutil.Process()
        process.memory_info()
    except Exception as error:
        return None, "; nor by psutil: %s" % error
    return lambda: int(process.memory_info().rss), ""
