"""The variables of functions that run, by name. They are read where they stand, and nothing of them is left behind."""

from __future__ import annotations

import ctypes
import gc
import operator
import sys
from contextlib import suppress
from functools import lru_cache
from inspect import CO_OPTIMIZED
from itertools import chain, compress, filterfalse, repeat, starmap, takewhile, tee
from operator import and_, not_, truth
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any, Callable, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..ledger.site import is_project
from .one_call import OneCall, is_none

Variables = List[Tuple[str, Any]]
SUSPENDED: FrozenSet[type] = frozenset((GeneratorType, CoroutineType, AsyncGeneratorType))
_FRAMES = ("gi_frame", "cr_frame", "ag_frame")


_MODULE = "<module>"  # it has its names itself
_FINALIZERS = frozenset(("__del__",))


class Running(NamedTuple):
    """A function of the user's that runs."""

    function: str
    module: str
    thread: int
    variables: Variables


def running() -> Iterator[Running]:
    """The functions of the user's that run now, in all threads: since Python 3.11 the collector knows none of them.

    A frame that somebody holds while its function ends keeps the variables of the function: no other is held for it.
    """
    for thread in _threads():
        frames = _of_user(thread)
        while frames:
            at = frames.pop()
            code = at.f_code
            if code.co_name != _MODULE:
                found = Running(code.co_name, str(at.f_globals.get("__name__", "")), thread, variables(at))
                del at
                yield found


_back = FrameType.f_back.__get__
_code = FrameType.f_code.__get__
_file = CodeType.co_filename.__get__
_name = CodeType.co_name.__get__


def _threads() -> List[int]:
    call = OneCall()
    found = call.numbers(chain.from_iterable(starmap(sys._current_frames, ((),))))
    call.run()
    return list(found)


def _of_user(thread: int) -> List[FrameType]:
    """The frames of a thread that are of the user's files, the innermost last.

    That of a finalizer, and of what it calls, is not among them: what it is called for would come back to life.
    """
    files: Set[str] = set()
    call = OneCall()
    call.do(map(files.update, (map(_file, map(_code, _frames(call, (thread,)))),)))
    call.run()
    wanted = frozenset(filter(is_project, files))
    found: List[FrameType] = []
    if wanted:
        call = OneCall()
        all_frames = _frames(call, (thread,))
        call.do(map(list.reverse, (all_frames,)))
        is_user = map(wanted.__contains__, map(_file, map(_code, iter(all_frames))))
        goes_on = map(not_, map(_FINALIZERS.__contains__, map(_name, map(_code, iter(all_frames)))))
        outside = map(and_, takewhile(truth, goes_on), is_user)
        call.do(map(found.extend, (compress(all_frames, outside),)))
        call.run()
    return found


def _frames(call: OneCall, threads: Iterable[int]) -> List[Any]:
    """A box in which the frames of these threads stand."""
    tops = map(dict.get, chain.from_iterable(map(repeat, starmap(sys._current_frames, ((),)))), threads)
    found = call.box(filterfalse(is_none, tops))
    call.do(map(found.append, filterfalse(is_none, map(_back, iter(found)))))  # each brings in the one that called it
    return found


def ids() -> List[int]:
    """The ids of the frames of all functions that run."""
    call = OneCall()
    found = call.numbers(map(id, _frames(call, _threads())))
    call.run()
    return list(found)


def frame_of(suspended: Any) -> Optional[FrameType]:
    """Where a generator or a coroutine stands; None where it has ended."""
    return next((getattr(suspended, name) for name in _FRAMES if hasattr(suspended, name)), None)


def variables_of(suspended: Any) -> Variables:
    """The variables of a generator or a coroutine."""
    frame = frame_of(suspended)
    return variables(frame) if frame is not None else []


def variables(frame: FrameType) -> Variables:
    """The variables of a function by name.

    Before Python 3.13 `f_locals` puts a copy into the frame. It keeps alive what it names until the function ends; and
    while a tracer or a profiler is called, Python takes the variables of the function from it afterwards, so that
    nobody may empty it again. So it is not asked: the variables are read where they stand.
    """
    if not frame.f_code.co_flags & CO_OPTIMIZED:  # the namespace of a class or of a module itself, and no copy
        return list(frame.f_locals.items())
    return _way()(frame)


_Read = Callable[[FrameType], Variables]


@lru_cache(maxsize=None)
def _way() -> _Read:
    """How this Python hands out the variables of a function without a copy; one that knows none hands out nothing."""
    for way in (_through_proxy, _by_name, _from_slots):
        read = way()
        if read is not None:
            return read
    return lambda frame: []


def _through_proxy() -> Optional[_Read]:
    """Python 3.13: `f_locals` is no copy any more."""
    return None if type(sys._getframe().f_locals) is dict else lambda frame: list(frame.f_locals.items())


def _by_name() -> Optional[_Read]:
    """Python 3.12: a function of C hands out one variable at a time."""
    try:
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)
        one = make(("PyFrame_GetVar", ctypes.pythonapi))
    except AttributeError:
        return None

    def read(frame: FrameType) -> Variables:
        found = []
        for name in _names(frame.f_code):
            with suppress(NameError):  # it is not set
                found.append((name, one(frame, name)))
        return found

    return read


def _names(code: CodeType) -> Tuple[str, ...]:
    """The names of all variables, in the order of their slots."""
    # From Python 3.11 on an argument that is a cell has one slot.
    known = frozenset(code.co_varnames) if sys.version_info >= (3, 11) else ()
    return code.co_varnames + tuple([name for name in code.co_cellvars if name not in known]) + code.co_freevars


# -- Python 3.7 to 3.11: the slots of a frame, in memory

_MOST_SLOTS = 1 << 16  # none of them is touched but those that a function has
_HEAD_BYTES = object.__basicsize__
_INNER_BYTES = 72  # before the slots in the frame of Python 3.11 that lies apart from the object


class _Slots(ctypes.Union):
    _fields_ = [("addresses", ctypes.c_void_p * _MOST_SLOTS), ("objects", ctypes.py_object * _MOST_SLOTS)]


class _Inner(ctypes.Structure):
    _fields_ = [("head", ctypes.c_byte * _INNER_BYTES), ("slots", _Slots)]


class _Apart(ctypes.Structure):
    """A frame of Python 3.11."""

    _fields_ = [
        ("head", ctypes.c_byte * _HEAD_BYTES), ("back", ctypes.c_void_p), ("inner", ctypes.POINTER(_Inner)),
    ]  # fmt: skip


class _Whole(ctypes.Structure):
    """A frame before that: it ends with the first slot."""

    _fields_ = [
        ("head", ctypes.c_byte * (FrameType.__basicsize__ - ctypes.sizeof(ctypes.c_void_p))), ("slots", _Slots),
    ]  # fmt: skip


def _from_slots() -> Optional[_Read]:
    """Read the references in the frame, where it is laid out as it is known to be: that is tried first."""
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 12):
        return None
    kind, path = (_Apart, "inner.contents.slots.") if sys.version_info >= (3, 11) else (_Whole, "slots.")
    addresses, objects = operator.attrgetter(path + "addresses"), operator.attrgetter(path + "objects")

    def read(frame: FrameType) -> Variables:
        code = frame.f_code
        names, seen = _names(code), kind.from_address(id(frame))
        slots = range(len(names))
        # One at a time: whether it is set, and what it is. A slot changes as soon as its thread runs, and where the
        # function ends, its slots move.
        are_set = map(operator.getitem, map(addresses, repeat(seen)), slots)
        indices, again = tee(compress(slots, are_set))
        found = _at_one_moment(zip(indices, map(operator.getitem, map(objects, repeat(seen)), again)))
        cells = frozenset(code.co_cellvars + code.co_freevars)
        return [
            (names[at], part)
            for at, value in found
            for part in ([value] if type(value) is not _CELL or names[at] not in cells else _content(value))
        ]

    return read if _reads_right(read) else None


_CELL = type((lambda one: lambda: one)(0).__closure__[0])  # type: ignore[index]


def _content(cell: Any) -> List[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []  # it is empty


def _at_one_moment(things: Iterator[Any]) -> List[Any]:
    """All of these, taken within one call into C and without a collection: nobody else can run meanwhile."""
    was_on: List[bool] = []
    try:
        return list(
            chain(
                filter(None, map(was_on.append, starmap(gc.isenabled, ((),)))),
                filter(None, starmap(gc.disable, ((),))),
                things,
                filter(None, starmap(gc.enable, compress(((),), was_on))),
            )
        )
    except BaseException:
        if was_on == [True]:
            gc.enable()
        raise


def _reads_right(read: _Read) -> bool:
    def shown(one: Any, two: Any, *rest: Any, three: Any = 3) -> Any:
        deleted = four = [one, two]
        del deleted
        return read(sys._getframe()), lambda: (two, four)

    found, _ = shown("one", ["two"], 4)
    four = ["one", ["two"]]
    return dict(found) == {"one": "one", "two": ["two"], "rest": (4,), "three": 3, "four": four, "read": read}
