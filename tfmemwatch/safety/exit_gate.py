"""The end of the interpreter: it ends our threads where they stand, so it waits until none of them is at work.

TensorFlow's C++ lets go of the interpreter while it answers; a thread that wants it back when the interpreter has ended
is ended in the middle of a destructor, and the program is aborted. And what a thread of ours has in hand where it was
ended lives longer than the program's own: a module, whose names are None when its objects end.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from contextlib import contextmanager
from typing import Dict, Iterator, List

_SECONDS = 1.0  # that the end waits at most; it takes some milliseconds
_at_work: Dict[object, int] = {}  # each with its process
_closed: List[bool] = []
_registered: List[bool] = []


@contextmanager
def at_work() -> Iterator[bool]:
    """Work that the end waits for; says whether it may be begun: in the main thread, which ends last, always."""
    work = object()
    _at_work[work] = os.getpid()
    try:
        yield not _closed or threading.current_thread() is threading.main_thread()
    finally:
        _at_work.pop(work, None)


def wait_at_exit() -> None:
    """From now on the end of the interpreter waits."""
    if not _registered:
        atexit.register(_close)
        _registered.append(True)


def wait_no_more() -> None:
    """Nothing of ours runs at the end of the interpreter."""
    with contextlib.suppress(Exception):  # it compares with what the program has registered
        atexit.unregister(_close)
        del _registered[:]


def _close() -> None:
    _closed.append(True)
    until, process = time.monotonic() + _SECONDS, os.getpid()
    while process in list(_at_work.values()) and time.monotonic() < until:
        time.sleep(0.001)
