"""What of the process is resident, by what it is mapped from: the kernel's own list. Some 15 ms with TensorFlow."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterator, List, NamedTuple

_ROW = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+) *([^\n]*)\nSize:[^\n]*\n"
    rb"(?:[A-Z][A-Za-z_]*:[^\n]*\n)*?Rss: +(\d+) kB\n"
    rb"(?:[A-UW-Z][A-Za-z_]*:[^\n]*\n)*(?:VmFlags:([^\n]*))?",
    re.M,
)
_ARENA_BYTES = 64 << 20  # what glibc reserves for the heap of a thread, and aligns it to
_MOST_GUARD_BYTES = 64 << 10  # the page or so below a thread's stack that must not be touched
_PYTHON_ARENA_BYTES = 256 << 10  # up to Python 3.9; since then four times that
_MOST_ABSENT_BYTES = 1 << 20  # Python fills one arena after the other
_SHARED = (b"/dev/shm/", b"/dev/zero", b"/memfd:", b"/SYSV")
_DEVICES = b"/dev/"


class Mapping(NamedTuple):
    """One stretch of addresses."""

    start: int
    end: int
    permissions: bytes
    inode: int
    path: bytes
    resident_bytes: int
    flags: bytes  # empty where the kernel does not tell them

    @property
    def size_bytes(self) -> int:
        """How long it is, resident or not."""
        return self.end - self.start


class Resident(NamedTuple):
    """Resident bytes by what they are mapped from; they sum to the resident memory of the process."""

    heap_bytes: int  # of glibc: [heap], and the arenas of threads
    heap_absent_bytes: int  # of the same, not resident
    files_bytes: int  # programs, libraries with their data, and files
    shared_bytes: int  # shared memory, and what other processes may see
    devices_bytes: int
    stacks_bytes: int
    anonymous_bytes: int  # everything else: large blocks of malloc, Python's arenas, mmap
    arena_absent_bytes: int = 0  # of what seem to be arenas of Python, not resident

    @property
    def bytes(self) -> int:
        """All of it."""
        return sum(self) - self.heap_absent_bytes - self.arena_absent_bytes


def read(proc: str = "/proc") -> List[Mapping]:
    """Every mapping of this process."""
    with open(os.path.join(proc, "self", "smaps"), "rb") as file:
        return list(parsed(file.read()))


def parsed(text: bytes) -> Iterator[Mapping]:
    """The rows of an `smaps` file."""
    for start, end, permissions, inode, path, resident, flags in _ROW.findall(text):
        kilobytes = int(resident)
        yield Mapping(int(start, 16), int(end, 16), permissions, int(inode), path.strip(), kilobytes * 1024, flags)


def resident(mappings: List[Mapping], heap_is_named: bool) -> Resident:
    """Sort them by what they are; `heap_is_named` where malloc is glibc's, whose arenas can be told."""
    sums: Dict[str, int] = {}
    before: Any = None
    has_flags = any(b" nr" in mapping.flags for mapping in mappings)
    for mapping in mappings:
        kind = _kind(mapping, before, heap_is_named)
        if kind == "arena":
            kind = "heap" if b" nr" in mapping.flags or not has_flags else "anonymous"
        sums[kind] = sums.get(kind, 0) + mapping.resident_bytes
        if kind == "heap":
            sums["absent"] = sums.get("absent", 0) + mapping.size_bytes - mapping.resident_bytes
        elif kind == "anonymous" and mapping.size_bytes >= _PYTHON_ARENA_BYTES:
            absent = mapping.size_bytes - mapping.resident_bytes
            if absent < min(_MOST_ABSENT_BYTES, 0.75 * mapping.size_bytes):
                sums["arenas"] = sums.get("arenas", 0) + absent
        before = mapping
    order = ("heap", "absent", "files", "shared", "devices", "stacks", "anonymous", "arenas")
    return Resident(*(sums.get(kind, 0) for kind in order))


def _kind(mapping: Mapping, before: Any, heap_is_named: bool) -> str:
    path = mapping.path
    if path == b"[heap]":
        return "heap" if heap_is_named else "anonymous"
    if path.startswith(b"[stack") or b"stack:" in path:
        return "stacks"
    if path.startswith(_SHARED) or (mapping.permissions.endswith(b"s") and not mapping.inode):
        return "shared"
    if path.startswith(_DEVICES):
        return "devices"
    if mapping.inode or path.startswith(b"[v"):
        return "files"
    adjacent = before is not None and before.end == mapping.start
    writable = mapping.permissions.startswith(b"rw")
    if writable and adjacent and before.permissions.startswith(b"---") and before.size_bytes <= _MOST_GUARD_BYTES:
        return "stacks"
    if heap_is_named and writable and mapping.start % _ARENA_BYTES == 0:
        return "arena"  # if it is not charged to the process in advance («nr»), as those of glibc are
    return "anonymous"
