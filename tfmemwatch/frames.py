"""The variables of functions that run, by name, without a copy of them left behind."""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

from .site import is_project

Variables = List[Tuple[str, Any]]
SUSPENDED: FrozenSet[type] = frozenset((GeneratorType, CoroutineType, AsyncGeneratorType))
_FRAMES = ("gi_frame", "cr_frame", "ag_frame")


class Running(NamedTuple):
    """A function of the user's that runs."""

    function: str
    module: str
    thread: int
    variables: Variables


def running() -> Iterator[Running]:
    """The functions of the user's that run now, in all threads: since Python 3.11 the collector knows none of them."""
    threads = list(sys._current_frames().items())[::-1]
    while threads:  # it must end empty: this very frame is in it, and would keep itself alive
        thread, at = threads.pop()
        while at is not None:
            code = at.f_code
            if code.co_name != "<module>" and is_project(code.co_filename):
                yield Running(code.co_name, str(at.f_globals.get("__name__", "")), thread, variables(at))
            at = at.f_back  # type: ignore[assignment]


def frame_of(suspended: Any) -> Optional[FrameType]:
    """Where a generator or a coroutine stands; None where it has ended."""
    return next((getattr(suspended, name) for name in _FRAMES if hasattr(suspended, name)), None)


def variables_of(suspended: Any) -> Variables:
    """The variables of a generator or a coroutine."""
    frame = frame_of(suspended)
    return variables(frame) if frame is not None else []


def variables(frame: FrameType) -> Variables:
    """The variables of a function by name.

    Up to Python 3.12 `f_locals` leaves a copy in the frame, which keeps alive what it names until the function ends. So
    it is emptied, unless somebody else has it (`locals()`), or has the frame: after a call of a tracer's or a
    profiler's, Python takes the variables of the function from that copy.
    """
    copied = frame.f_locals
    found = list(copied.items())
    is_copy = type(copied) is dict and bool(frame.f_code.co_flags & CO_OPTIMIZED)  # else it is the namespace itself
    if is_copy and sys.getrefcount(copied) <= 3 and frame.f_trace is None and sys.getrefcount(frame) <= _ALONE:
        copied.clear()
    return found


def _references(frame: FrameType) -> int:
    return sys.getrefcount(frame)


def _alone() -> int:
    """How many references there are to the frame of a running function that nobody but we have in hand."""
    at = sys._getframe()
    return _references(at)


_ALONE = _alone()
