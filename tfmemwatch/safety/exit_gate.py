"""The end of the interpreter: it ends our threads where they stand, and where that is C++, the program is aborted.

TensorFlow's C++ lets go of the interpreter while it answers. A thread that wants it back when the interpreter has ended
is ended itself, in the middle of a destructor. So the end waits for those who are in there, and lets nobody in.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from contextlib import contextmanager
from typing import Dict, Iterator, List

_SECONDS = 1.0  # that the end waits at most; it takes some milliseconds
_inside: Dict[object, int] = {}  # those who are in there, each with its process
_closed: List[bool] = []
_registered: List[bool] = []


@contextmanager
def inside() -> Iterator[bool]:
    """Go into C++ that lets go of the interpreter, if that is still allowed."""
    stay = object()
    _inside[stay] = os.getpid()
    try:
        yield not _closed
    finally:
        _inside.pop(stay, None)


def stand() -> None:
    """From now on the end of the interpreter waits."""
    if not _registered:
        atexit.register(_close)
        _registered.append(True)


def leave() -> None:
    """The end of the interpreter is Python's alone."""
    with contextlib.suppress(Exception):  # it compares with what the program has registered
        atexit.unregister(_close)
        del _registered[:]


def _close() -> None:
    _closed.append(True)
    until, process = time.monotonic() + _SECONDS, os.getpid()
    while process in list(_inside.values()) and time.monotonic() < until:
        time.sleep(0.001)
