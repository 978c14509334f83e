"""Remedies, tried on request: what each one gives back, in bytes and objects. Nothing here runs by itself."""

from __future__ import annotations

import gc
import sys
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from .. import html
from ..errors import ConfigError, Unavailable
from ..heap.classes import ids_of
from ..heap.instances import references_to
from ..heap.room import heap_size
from ..seams import caches, functions, keras, places
from ..units import count_of, size_of
from .process import PYTHON_BLOCK_BYTES, Process, python_heap


class Remedy(NamedTuple):
    """Something that may give memory back."""

    name: str
    title: str  # in the table
    help: str  # what it does, and what it costs
    run: Callable[[Any], str]  # with the function that was named; what it says stands behind its row
    is_named: bool = True  # whether it runs only when it is asked for by name: it takes something from the program


class Outcome(NamedTuple):
    """What one remedy gave back; below 0 where there is more than before. None where that can't be told."""

    name: str
    title: str
    resident_bytes: Optional[int]
    in_use_bytes: Optional[int]
    objects: Optional[int]
    seconds: float
    note: str


class Trial(NamedTuple):
    """One remedy after the other."""

    outcomes: Tuple[Outcome, ...]
    resident_bytes: Optional[int]  # now

    @property
    def returned_bytes(self) -> int:
        """What all of them gave back of resident memory."""
        return sum(outcome.resident_bytes or 0 for outcome in self.outcomes)

    def _repr_html_(self) -> str:
        rows = [
            (one.title, _size(one.resident_bytes), _size(one.in_use_bytes), _count(one.objects),
             "%.2g s" % one.seconds, one.note)
            for one in self.outcomes
        ]  # fmt: skip
        now = "" if self.resident_bytes is None else "; resident now: " + size_of(self.resident_bytes)
        head = ("what came back", "resident", "in use", "objects", "took", "")
        return html.piece(
            html.table(head, rows, numbers=(1, 2, 3, 4)), html.line("in all %s%s" % (size_of(self.returned_bytes), now))
        )

    def __str__(self) -> str:
        layout = "  %-26s %10s %10s %10s %8s  %s"
        lines = [(layout % ("what came back", "resident", "in use", "objects", "took", "")).rstrip()]
        for one in self.outcomes:
            sizes = [_size(one.resident_bytes), _size(one.in_use_bytes), _count(one.objects)]
            lines.append((layout % (one.title, *sizes, "%.2g s" % one.seconds, one.note)).rstrip())
        now = "" if self.resident_bytes is None else "; resident now: " + size_of(self.resident_bytes)
        lines.append("  in all %s%s" % (_size(self.returned_bytes), now))
        return "\n".join(lines) + "\n"


def _size(number: Optional[int]) -> str:
    if number is None:
        return "–"
    return size_of(number) if number >= 0 else "−" + size_of(-number)


def _count(number: Optional[int]) -> str:
    if number is None:
        return "–"
    return count_of(number) if number >= 0 else "−" + count_of(-number)


def _collect(function: Any) -> str:
    gc.collect()
    return ""


def _clear_session(function: Any) -> str:
    cleared = keras.clear_sessions()
    if not cleared:
        raise Unavailable("no Keras has been imported")
    gc.collect()
    return "%s; Keras 3 keeps names by thread, and this was thread %r" % (
        ", ".join(cleared), threading.current_thread().name,
    )  # fmt: skip


def _clear_traces(function: Any) -> str:
    if function is None:
        raise Unavailable("name the function: function='step', or the tf.function itself")
    found = _functions(function)
    if not found:
        raise Unavailable("no tf.function of the name %s is alive" % function)
    cleared = sum(map(functions.clear_traces, found))
    gc.collect()
    return "%s trace%s; each signature is traced again at its next call" % (
        count_of(cleared), "" if cleared == 1 else "s",
    )  # fmt: skip


def _functions(function: Any) -> List[Any]:
    """The tf.functions that are meant: one, or all that have a name."""
    if not isinstance(function, str):
        return [function]
    if not places.has("function"):
        return []
    refs = references_to(ids_of((places.find("function").value,)))
    return [one for one in (ref() for ref in refs) if one is not None and functions.name_of_function(one) == function]


def _clear_kernels(function: Any) -> str:
    caches.clear_kernel_cache()
    gc.collect()
    return "each kernel is made again when its operation runs"


def _clear_scalars(function: Any) -> str:
    caches.clear_scalar_cache()
    return ""


REMEDIES: Tuple[Remedy, ...] = (
    Remedy("collect", "gc.collect()", "collects Python objects in cycles", _collect, is_named=False),
    Remedy("clear_session", "clear_session()", "resets what Keras holds: names, graphs", _clear_session),
    Remedy("traces", "traces of a function", "drops the traces of one tf.function; it is traced again", _clear_traces),
    Remedy("kernels", "TensorFlow's kernel cache", "empties it; kernels are made again", _clear_kernels),
    Remedy("scalars", "TensorFlow's scalar cache", "empties it", _clear_scalars),
)  # fmt: skip
NAMES: Tuple[str, ...] = (*(one.name for one in REMEDIES), "trim")
_MOST_OBJECTS = 2000000  # that are counted, 20 to 50 ns each
_BY_NAME: Dict[str, Remedy] = {one.name: one for one in REMEDIES}


def trial(names: Tuple[str, ...], function: Union[str, Any, None] = None, process: Optional[Process] = None) -> Trial:
    """Try `collect`, then each that was asked for, then `trim`; a table of what came back after each."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ConfigError("%r is not a remedy; it must be one of %s" % (unknown[0], ", ".join(NAMES)))
    asked = list(names) + (["traces"] if function is not None and "traces" not in names else [])
    order = ["collect", *[name for name in dict.fromkeys(asked) if name not in ("collect", "trim")], "trim"]
    own = process is None
    process = Process() if process is None else process
    try:
        trim = Remedy("trim", "trim of %s" % process.allocator.name, "", lambda _: _trim(process))
        outcomes = [_try(trim if name == "trim" else _BY_NAME[name], function, process) for name in order]
        return Trial(tuple(outcomes), process.resident_bytes())
    finally:
        if own:
            process.close()


def _trim(process: Any) -> str:
    if not process.allocator.trim():
        raise Unavailable("this allocator can't be asked to trim")
    return ""


def _try(remedy: Remedy, function: Any, process: Process) -> Outcome:
    before, began = _state(process), time.monotonic()
    try:
        note = remedy.run(function)
    except Unavailable as why:
        note = "not possible: %s" % why
    except Exception as error:  # TensorFlow's own: the other remedies are tried all the same
        note = "it failed: %r" % error
    seconds = time.monotonic() - began
    after = _state(process)
    resident, in_use, objects = (None if old is None or new is None else old - new for old, new in zip(before, after))
    return Outcome(remedy.name, remedy.title, resident, in_use, objects, seconds, note)


def _state(process: Process) -> Tuple[Optional[int], Optional[int], Optional[int]]:
    """Resident bytes, bytes in use, and objects of Python where they can be counted without stopping everybody."""
    objects = None if heap_size.too_large(_MOST_OBJECTS, asked=True) else heap_size.count()
    in_use = process.in_use_bytes()
    python = python_heap()
    blocks: int = getattr(sys, "getallocatedblocks", lambda: 0)()
    small = python.in_use_bytes if python is not None else blocks * PYTHON_BLOCK_BYTES
    return process.resident_bytes(), None if in_use is None else in_use + small, objects
