"""Whose bytes these are: resident memory split by owner, so that the parts sum to the whole."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from .. import html
from ..units import size_of
from . import mappings
from .allocator import Heap
from .mappings import Resident
from .process import PYTHON_BLOCK_BYTES, Memory, Process, PythonHeap, python_heap


class Owner(NamedTuple):
    """One of those that memory can belong to."""

    name: str
    title: str
    help: str


OWNERS: Tuple[Owner, ...] = (
    Owner("python", "Python objects", "Python objects, the large ones in malloc included"),
    Owner("python_kept", "Python, kept", "free, in Python's arenas that still hold something"),
    Owner("numpy", "NumPy arrays", "arrays that own their memory"),
    Owner("tensors", "eager tensors", "tensors that Python holds"),
    Owner("variables", "variables", "values of TensorFlow's variables"),
    Owner("constants", "graph constants", "constants in graphs and traced functions"),
    Owner("malloc", "malloc, other", "in use beyond the above: TensorFlow's caches and buffers, native libraries"),
    Owner("malloc_kept", "malloc, kept", "freed, and kept by the allocator"),
    Owner("anonymous", "other anonymous", "mapped by neither malloc nor Python: mmap, buffers of libraries"),
    Owner("stacks", "thread stacks", "stacks of threads"),
    Owner("shared", "shared memory", "shared memory and tmpfs"),
    Owner("devices", "device mappings", "device memory that is mapped here"),
    Owner("files", "code and files", "programs, libraries with their data, and mapped files"),
    Owner("untouched", "never touched", "counted above, but not resident: subtracted"),
    Owner("rest", "not explained", "resident memory less all of the above"),
)  # fmt: skip
TITLES: Dict[str, str] = {owner.name: owner.title for owner in OWNERS}


class Weights(NamedTuple):
    """Bytes of malloc's whose owner is known."""

    python_bytes: int = 0
    arrays_bytes: int = 0
    tensors_bytes: int = 0
    variables_bytes: int = 0
    constants_bytes: int = 0


class Account(NamedTuple):
    """Resident memory at one moment: `parts`, by the names of OWNERS, sum to it."""

    seconds: float
    resident_bytes: int
    parts: Mapping[str, int]
    in_use_bytes: Optional[int]
    kept_bytes: Optional[int]
    returnable_bytes: Optional[int]  # what a trim of the allocator would give back, about
    things: Mapping[str, int]  # how many arrays, tensors and variables there are
    devices: Mapping[str, int]
    allocator: str
    off: Tuple[str, ...]  # what could not be read, and why

    def of(self, owner: str) -> int:
        """Bytes of one owner; 0 of one that has none, or could not be read."""
        return self.parts.get(owner, 0)

    def less(self, earlier: Account) -> Dict[str, int]:
        """What each owner has more, or less, than it had."""
        names = [name for name in TITLES if name in self.parts or name in earlier.parts]
        return {name: self.of(name) - earlier.of(name) for name in names}

    def most(self, earlier: Account) -> Tuple[str, int]:
        """The owner that has grown most since, and by how much; what a thing takes beside its value goes with it."""
        grown = self.less(earlier)
        for name, holder, size in _ASIDE:
            things = self.things.get(name, 0) - earlier.things.get(name, 0)
            grown[holder] = grown.get(holder, 0) - size * max(0, things)
        # Of an arena of Python that is half filled, the rest is told by what is not resident: a guess, up to an arena.
        traded = min(_ARENA_BYTES, max(0, -grown.get("python_kept", 0)))
        grown["anonymous"] = grown.get("anonymous", 0) - traded
        kept = max((name for name in _FREE), key=lambda name: grown.get(name, 0))
        held = max((name for name in grown if name not in _FREE), key=lambda name: grown[name])
        # What is free comes and goes by megabytes; what is in use is known exactly.
        best = held if grown[held] >= _LEAST_SHARE * grown.get(kept, 0) else kept
        return best, grown.get(best, 0)

    def __str__(self) -> str:
        return "\n".join(self.lines(None)) + "\n"

    def _repr_html_(self) -> str:
        rows = [(owner.title, size_of(self.of(owner.name)), owner.help) for owner in OWNERS
                if abs(self.of(owner.name)) >= _LEAST_SHOWN]  # fmt: skip
        rows += [(name, size_of(size), "on this device") for name, size in sorted(self.devices.items())]
        return html.piece(
            html.heading("%s resident" % size_of(self.resident_bytes)),
            html.table(("owner", "holds", ""), rows, numbers=(1,)),
            *(html.line("not known: " + why, "dim") for why in self.off),
        )

    def lines(self, earlier: Optional[Account]) -> Tuple[str, ...]:
        """The table, with the change since an earlier account where there is one."""
        change = self.less(earlier) if earlier is not None else {}
        rows = [_row("resident", self.resident_bytes, earlier and self.resident_bytes - earlier.resident_bytes)]
        for owner in OWNERS:
            size = self.of(owner.name)
            more = change.get(owner.name)
            if abs(size) >= _LEAST_SHOWN or (more is not None and abs(more) >= _LEAST_SHOWN):
                rows.append(_row("  " + owner.title, size, more))
        for name, size in sorted(self.devices.items()):
            before = earlier.devices.get(name) if earlier is not None else None
            rows.append(_row(name, size, None if before is None else size - before))
        if self.returnable_bytes is not None and self.returnable_bytes >= _LEAST_RETURNED:
            back = size_of(self.returnable_bytes)
            rows.append("%s would give back about %s if it were trimmed" % (self.allocator, back))
        return tuple(rows) + tuple("not known: " + why for why in self.off)


# What a thing takes beside its value, and from whom, in bytes as measured.
_ASIDE = (
    ("variables", "malloc", 2600), ("variables", "python", 1300),
    ("tensors", "malloc", 700), ("tensors", "python", 350),
)  # fmt: skip
_ARENA_BYTES = 1 << 20
_FREE = ("malloc_kept", "python_kept")
_LEAST_SHARE = 0.05
_LEAST_SHOWN = 50000
_LEAST_RETURNED = 4000000


def _row(title: str, size: int, more: Optional[int]) -> str:
    return ("%-20s %9s  %s" % (title, size_of(size), change_of(more) if more else "")).rstrip()


def change_of(more: float) -> str:
    """A difference as a person says it: `+41 MiB`, `−3 KiB`."""
    return "%s%s" % ("+" if more >= 0 else "−", size_of(abs(more)))


def take(process: Process, weigh: Callable[[], Any], devices: Callable[[], Mapping[str, int]]) -> Account:
    """Read everything, the slow parts too: the list of mappings, and then what living objects weigh."""
    off = [process.off] if process.off else []
    memory = process.read()
    heap = process.allocator.read_now()
    python = python_heap()
    if python is None and memory.python_blocks:
        off.append("Python's arenas, which this Python does not report; estimated from the number of its blocks")
    try:
        found: Optional[Resident] = mappings.resident(mappings.read(process.proc), process.allocator.heap_is_named)
    except OSError as error:
        found = None
        off.append("the list of mappings: %s" % error)
    returnable = process.allocator.returnable_bytes(found.heap_absent_bytes if found is not None else 0)
    weighed = weigh()  # last: it takes memory itself
    if weighed.off:
        off.append("what Python's large objects, arrays and tensors weigh: " + weighed.off)
    parts, resident = split(memory, heap, python, found, Weights(*weighed[:5]))
    things = {"numpy": weighed.arrays, "tensors": weighed.tensors, "variables": weighed.variables}
    return Account(
        time.time(), resident, parts, heap.in_use_bytes, heap.kept_bytes, returnable, things, dict(devices()),
        process.allocator.name, tuple(off),
    )  # fmt: skip


def light(
    process: Process, variables_bytes: int = 0, asked: bool = False, memory: Optional[Memory] = None
) -> Account:  # fmt: skip
    """The same without the slow parts, in less than a millisecond: what lives in malloc is not told apart."""
    heap = process.allocator.read_now() if asked else process.allocator.read()
    python = python_heap()
    weights = Weights(variables_bytes=variables_bytes)
    parts, resident = split(memory or process.read(), heap, python, None, weights)
    known = {name: parts[name] for name in _LIGHT}
    return Account(
        time.time(), resident, known, heap.in_use_bytes, heap.kept_bytes, None, {}, {}, process.allocator.name, ()
    )  # fmt: skip


_LIGHT = ("python", "python_kept", "variables", "malloc", "malloc_kept", "anonymous", "files", "untouched", "rest")


def returnable(process: Process) -> Optional[int]:
    """About what a trim of the allocator would give back; some 20 ms. None where that can't be told."""
    absent = 0
    if process.allocator.heap_is_named:
        try:
            absent = mappings.resident(mappings.read(process.proc), True).heap_absent_bytes
        except OSError:
            return None  # of what is free, nobody knows what has gone back already
    return process.allocator.returnable_bytes(absent)


def split(
    memory: Memory, heap: Heap, python: Optional[PythonHeap], found: Optional[Resident], weights: Weights
) -> Tuple[Dict[str, int], int]:
    """The parts by owner, and the resident memory that they sum to; pure."""
    small = python or PythonHeap(memory.python_blocks * PYTHON_BLOCK_BYTES, 0)
    if found is None:
        found = _without_mappings(memory)
    parts = {
        "files": found.files_bytes, "shared": found.shared_bytes, "devices": found.devices_bytes,
        "stacks": found.stacks_bytes,
    }  # fmt: skip
    resident = found.bytes
    anonymous = found.anonymous_bytes
    python_in_use = max(0, min(small.in_use_bytes, anonymous))
    python_kept = max(0, min(small.kept_bytes - found.arena_absent_bytes, anonymous - python_in_use))
    anonymous -= python_in_use + python_kept
    named = sum(weights)
    in_use = max(heap.in_use_bytes or 0, 0 if heap.in_use_bytes is not None else named)
    in_heap = min(in_use - heap.mapped_bytes, found.heap_bytes) if found.heap_bytes else 0
    in_mappings = min(in_use - in_heap if not found.heap_bytes else heap.mapped_bytes, anonymous)
    anonymous -= in_mappings
    free = heap.kept_bytes or 0
    if found.heap_bytes:
        kept = min(found.heap_bytes - in_heap, free)
        anonymous += found.heap_bytes - in_heap - kept
    else:
        kept = min(free, anonymous)
        anonymous -= kept
    parts.update(
        python=python_in_use + weights.python_bytes,
        python_kept=python_kept,
        numpy=weights.arrays_bytes,
        tensors=weights.tensors_bytes,
        variables=weights.variables_bytes,
        constants=weights.constants_bytes,
        malloc=max(0, in_use - named),
        malloc_kept=kept,
        anonymous=anonymous,
        untouched=in_heap + in_mappings - in_use,
    )
    parts["rest"] = resident - sum(parts.values())
    return parts, resident


def _without_mappings(memory: Memory) -> Resident:
    """What is known without the list of mappings: what is in files, and what is not."""
    resident = memory.resident_bytes or 0
    in_files = min(resident, memory.file_bytes or 0)
    return Resident(0, 0, in_files, 0, 0, 0, resident - in_files)
