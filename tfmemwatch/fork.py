"""Start afresh in a forked child. What belongs to the process lives here: who wants to hear of a fork."""

from __future__ import annotations

import os
import weakref
from typing import Any, Callable, List

from . import guard

_listeners: List[Any] = []  # weak: a watch that has gone is not told
_registered: List[bool] = []


def _in_child() -> None:
    for ref in list(_listeners):
        listener = ref()
        if listener is None:
            continue
        try:
            listener()
        except Exception:
            guard.failed("fork")


def in_child(method: Callable[[], None]) -> None:
    """Call a bound method in every child from now on, for as long as its object lives."""
    _listeners[:] = [ref for ref in _listeners if ref() is not None]
    _listeners.append(weakref.WeakMethod(method))
    if not _registered and hasattr(os, "register_at_fork"):
        _registered.append(True)
        os.register_at_fork(after_in_child=_in_child)
