"""One at a time, and nobody waits in vain.

A signal handler runs between two steps of its thread, and a finalizer at any allocation: both may ask for what their
own thread is working on. A thread that has the turn already goes without it, and so does one that has waited too long;
each uses the last complete state. News that comes meanwhile is told when no turn is held any more.
"""

from __future__ import annotations

import weakref
from _thread import RLock
from collections import deque
from typing import Any, Callable, Deque, Set

WAIT_SECONDS = 1.0  # for another thread, before one goes without


class Reference(weakref.ref):  # type: ignore[type-arg]
    """A weak reference for a set, which it leaves by `set.discard` when its thing dies.

    That is one step of C. Python code in its place would have to fear a signal handler: what that raises is lost there.
    """

    __slots__ = ()
    __hash__ = object.__hash__  # of the reference: a variable or tensor can't be hashed
    __eq__ = object.__eq__


_turns: Set[Reference] = set()
_untold: Deque[Callable[[], None]] = deque(maxlen=100)


class Turn:
    """A lock. A thread that has it already does not wait for it, and no thread waits for long."""

    __slots__ = ("__weakref__", "_lock")  # eventlet puts a lock of its own in the place of each in a `__dict__`

    def __init__(self) -> None:
        # Python's own, whatever a library for green threads puts in its place: it knows its owner from the moment on
        # at which it is taken.
        self._lock: Any = RLock()
        _turns.add(Reference(self, _turns.discard))

    @property
    def is_mine(self) -> bool:
        """Whether this thread has it."""
        return bool(self._lock._is_owned())

    def locked(self) -> bool:
        """Whether anybody has it."""
        return "unlocked" not in repr(self._lock)

    def take(self, work: Callable[[], Any], seconds: float = WAIT_SECONDS) -> bool:
        """Do the work with nobody else at it. False where it was not done: this thread or another one is at it."""
        lock = self._lock
        if lock._is_owned():
            return False
        try:
            try:
                if not (lock.acquire(True, seconds) if seconds else lock.acquire(False)):
                    return False
                work()
            finally:
                if lock._is_owned():
                    lock.release()
        finally:  # an exception of a signal handler may have come between these two
            if lock._is_owned():
                lock.release()
        if _untold:
            _tell()
        return True

    def wait(self, seconds: float) -> bool:
        """Have it from now on, unless another thread has it for longer."""
        return bool(self._lock.acquire(True, seconds))

    def give_back(self) -> None:
        """Have it no more."""
        self._lock.release()

    def __enter__(self) -> Turn:
        self._lock.acquire()
        return self

    def __exit__(self, *error: Any) -> None:
        self._lock.release()


def is_held() -> bool:
    """Whether this thread has any turn."""
    return any(turn is not None and turn.is_mine for turn in [ref() for ref in list(_turns)])


def later(tell: Callable[[], None]) -> None:
    """Tell something as soon as this thread, or another that has had a turn, has none."""
    _untold.append(tell)


def _tell() -> None:
    while _untold and not is_held():
        try:
            tell = _untold.popleft()
        except IndexError:  # another thread has told it
            return
        tell()
