"""What the process holds, read cheaply. What can't be read is None, and says why."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import sys
import time
from typing import Any, Callable, List, NamedTuple, Optional, Set, Tuple

from .allocator import PAGE_BYTES, Allocator
from .c_file import written
from .own_allocator import of_this_process

try:
    import fcntl
except ImportError:  # not everywhere
    fcntl = None  # type: ignore[assignment]


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
_MOST_SECONDS = 0.02  # for all these readings, without what lies between them


def least(read: Callable[[], float]) -> float:
    """The least of a few readings, since the program goes on meanwhile: in the middle of a call there is more.

    A thread that waits for its turn gets it when TensorFlow begins to compute, which is just such a moment.
    """
    found, spent = read(), 0.0
    for _ in range(_READINGS):
        time.sleep(_BREATH_SECONDS)
        began = time.perf_counter()
        found = min(found, read())
        spent += time.perf_counter() - began
        if spent > _MOST_SECONDS:
            break
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
        text = written(_c_library() if library is None else library, tell)
    except (OSError, TypeError):
        return None
    return parsed_python_heap(text or "")


@functools.lru_cache(maxsize=None)
def _c_library() -> Any:
    return ctypes.CDLL(None)


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


# Two flags that mean nothing here, so that nobody else has such a descriptor of this file: ours are known by them.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_DSYNC", "O_NONBLOCK"))
_known: Set[int] = set()  # the descriptors of all of this process


class Process:
    """The memory of this process, read through one kept file descriptor.

    Its number is the program's to close, too: who becomes a daemon closes all, and the next file has the number. So
    what is read has to look like the file, and nothing is closed that is not known for certain to be ours.
    """

    def __init__(self, proc: str = "/proc", malloc: Optional[Allocator] = None, opened: bool = True) -> None:
        self.proc = proc
        self._path = os.path.join(proc, "self", "statm")
        self._statm = -1
        self._identity: Tuple[int, ...] = ()  # what the descriptor leads to
        self._is_opening = False  # still true later: this was interrupted, and one may be open that nobody has noted
        self._is_wanted = True  # until it is closed: whoever reads opens it
        self._is_tried = False
        self._resident: Optional[Callable[[], int]] = None  # where there is no such file
        self.allocator = of_this_process() if malloc is None else malloc
        self._no_statm = ""
        if opened:
            self.open()

    @property
    def off(self) -> str:
        """What can't be read here, and why; empty where all can."""
        if self._is_wanted and not self._is_tried:
            self._open_anew()
        return "; ".join(filter(None, (self._no_statm, self.allocator.off)))

    def open(self) -> None:
        """Open the file anew: in a forked child the old one still speaks of the parent."""
        self._is_wanted = True
        self._open_anew()

    def close(self) -> None:
        """Give the file descriptor back, if it still is ours."""
        self._is_wanted = False
        self._give_back()

    def _open_anew(self) -> None:
        self._give_back()
        self._no_statm = ""
        self._is_tried = self._is_opening = True
        try:
            self._statm = os.open(self._path, _FLAGS)
            self._identity = _identity(self._statm)
            _known.add(self._statm)
        except OSError as error:
            self._resident, why = _psutil_resident() if self.proc == "/proc" else (None, "")
            if self._resident is None:
                self._no_statm = "resident memory is not known: %s%s" % (error, why)
        self._is_opening = False
        if not self._is_wanted:  # closed meanwhile, by another thread
            self._give_back()

    def _give_back(self) -> None:
        self._resident = None
        if self._is_opening:
            _known.discard(self._statm)
            _close_unknown(os.path.realpath(self._path))
            self._is_opening = False
        elif self._statm >= 0:
            if self._is_ours():
                os.close(self._statm)
            _known.discard(self._statm)
        self._statm = -1

    def _is_ours(self) -> bool:
        try:
            return _identity(self._statm) == self._identity
        except OSError:
            return False

    def resident_bytes(self) -> Optional[int]:
        """Resident memory, in about a microsecond."""
        return self._statm_bytes()[0]

    def in_use_bytes(self) -> Optional[int]:
        """What malloc has handed out and not got back, now; None where that can't be told, or would take long."""
        return None if self.allocator.is_slow else self.allocator.read().in_use_bytes

    def read_resident(self) -> Memory:
        """What is resident alone, in about a microsecond."""
        resident, in_files = self._statm_bytes()
        return Memory(resident, None, None, 0, in_files)

    def read(self, python_blocks: Optional[int] = None) -> Memory:
        """All of it at one moment, in some microseconds.

        `python_blocks`, where they need not be counted again: in a large heap of Python's that takes the most of it.
        """
        resident, in_files = self._statm_bytes()
        heap = self.allocator.read()
        if python_blocks is None:
            python_blocks = getattr(sys, "getallocatedblocks", lambda: 0)()
        return Memory(resident, heap.in_use_bytes, heap.kept_bytes, python_blocks, in_files)

    def _statm_bytes(self) -> Tuple[Optional[int], Optional[int]]:
        """What is resident, and what of it is in files."""
        if self._statm >= 0:
            try:
                _, resident, in_files, _, no_library, _, not_dirty = os.pread(self._statm, 96, 0).split()
                if no_library == not_dirty == b"0":  # in this file they always are
                    return int(resident) * PAGE_BYTES, int(in_files) * PAGE_BYTES
            except (OSError, ValueError):
                pass
            self._is_tried = False  # the program has closed it
        if self._is_wanted and not self._is_tried:
            self._open_anew()
            if self._statm >= 0:
                fields: List[bytes] = os.pread(self._statm, 96, 0).split()
                return int(fields[1]) * PAGE_BYTES, int(fields[2]) * PAGE_BYTES
        return (None if self._resident is None else self._resident()), None


def _identity(descriptor: int) -> Tuple[int, ...]:
    """What a descriptor leads to, and how it was opened."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino, fcntl.fcntl(descriptor, fcntl.F_GETFL) if fcntl is not None else 0


def _close_unknown(path: str) -> None:
    """Close what was opened as ours are, and is not noted anywhere: an exception came between the two."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                descriptor, wanted = int(name), _FLAGS & ~getattr(os, "O_CLOEXEC", 0)
                is_alike = os.readlink("/proc/self/fd/" + name) == path
                if is_alike and descriptor not in _known and _identity(descriptor)[2] & wanted == wanted:
                    os.close(descriptor)


def _psutil_resident() -> Tuple[Optional[Callable[[], int]], str]:
    """Resident memory where there is no /proc: a system call behind psutil."""
    try:
        import psutil

        process = psutil.Process()
        process.memory_info()
    except Exception as error:
        return None, "; psutil can't read it either: %s" % error
    return lambda: int(process.memory_info().rss), ""
