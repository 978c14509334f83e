"""Errors of the program show its own frames, and none of ours that they have passed through."""

from __future__ import annotations

import ctypes
import os
import sys
from types import TracebackType
from typing import Any, Callable, Optional

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_IS_SIMPLE = sys.version_info >= (3, 11)  # there a bare `raise` takes the traceback that the error has


def without_us(error: BaseException) -> None:
    """Take the frame that has caught an error, and ours below it, off its traceback; a bare `raise` must follow.

    Only an error pays for it. Where nothing else is left, as of a call with wrong arguments, the caller is its end.
    """
    entry = error.__traceback__
    rest = entry.tb_next if entry is not None else None
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_OURS):
        rest = rest.tb_next
    if not _IS_SIMPLE:
        _being_handled(error, rest)
    error.__traceback__ = rest


without_us.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph's own mark for what it may call as it is


def _replacing() -> Optional[Callable[[BaseException, Optional[TracebackType]], None]]:
    """Before Python 3.11 a bare `raise` takes the traceback that the interpreter has kept for the error it handles."""
    try:
        replace, keep = ctypes.pythonapi.PyErr_SetExcInfo, ctypes.pythonapi.Py_IncRef
    except AttributeError:  # another Python
        return None
    replace.argtypes, replace.restype = [ctypes.py_object, ctypes.py_object, ctypes.c_void_p], None
    keep.argtypes, keep.restype = [ctypes.py_object], None

    def being_handled(error: BaseException, rest: Optional[TracebackType]) -> None:
        for thing in (type(error), error, *([] if rest is None else [rest])):
            keep(thing)  # each reference is given away
        replace(type(error), error, None if rest is None else id(rest))

    return being_handled


def _as_it_is(error: BaseException, rest: Optional[TracebackType]) -> None:
    """Nothing can be done: one frame of ours stays."""


_being_handled: Any = _as_it_is if _IS_SIMPLE else _replacing() or _as_it_is
