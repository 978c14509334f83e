"""Start afresh in a forked child. What belongs to the process lives here: who wants to hear of a fork."""

from __future__ import annotations

import os
import weakref
from typing import Any, Callable, List

from . import guard
from .turn import Turn

_WAIT_SECONDS = 1.0  # that a fork waits for what another thread installs or takes back
_listeners: List[Any] = []  # weak: a watch that has gone is not told
_registered: List[bool] = []


class _Change:
    """The turn to install or to take back: no process is forked in the midst of it by another thread."""

    turn = Turn()
    is_for_fork = False  # written by who has the turn alone


def changing(work: Callable[[], Any], seconds: float) -> bool:
    """Install or take back something with nobody else at it; False where it was not done."""
    _listen()
    return _Change.turn.take(work, seconds)


def is_changing_here() -> bool:
    """Whether this thread is in the midst of it."""
    return _Change.turn.is_mine


def _before() -> None:
    turn = _Change.turn
    if not turn.is_mine and turn.wait(_WAIT_SECONDS):
        _Change.is_for_fork = True


def _in_parent() -> None:
    if _Change.is_for_fork and _Change.turn.is_mine:
        _Change.is_for_fork = False
        _Change.turn.give_back()


def _in_child() -> None:
    if _Change.is_for_fork or not _Change.turn.is_mine:  # else what this thread was at goes on
        _Change.turn = Turn()
        _Change.is_for_fork = False
    for ref in list(_listeners):
        listener = ref()
        if listener is None:
            continue
        try:
            listener()
        except Exception:
            guard.failed("fork")


def in_child(method: Callable[[], None]) -> None:
    """Call a bound method in every child from now on, for as long as its object lives; once, if said again."""
    _listeners[:] = [ref for ref in _listeners if ref() is not None and ref() != method] + [weakref.WeakMethod(method)]
    _listen()


def no_longer(method: Callable[[], None]) -> None:
    """Take back what `in_child` was asked for."""
    _listeners[:] = [ref for ref in _listeners if ref() is not None and ref() != method]


def _listen() -> None:
    if not _registered and hasattr(os, "register_at_fork"):
        _registered.append(True)
        os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
