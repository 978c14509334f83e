"""The one thread: looks at regular times, and never in the way."""

from __future__ import annotations

import contextlib
import threading
import time
from _thread import allocate_lock, start_new_thread
from typing import Callable

from ..safety import exit_gate, guard, threads

STOP_SECONDS = 5.0  # for the look that is under way
NAME = "tfmemwatch"


def is_here() -> bool:
    """Whether this is the thread of a watch."""
    return threading.current_thread().name == NAME


class Sampler:
    """Calls `look` after every pause of so many seconds until stopped; a daemon, and one that leaves at once."""

    def __init__(self, look: Callable[[], None], pause: Callable[[], float]) -> None:
        self._look = look
        self._pause = pause
        self.spent_seconds = 0.0
        self.looks = 0
        self._is_started = self._is_begun = self._is_over = False
        # Each of these is one step of C; a signal handler that raises within an `Event` of threading's breaks that one.
        self._beginning, self._bell, self._end = allocate_lock(), allocate_lock(), allocate_lock()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)

    def start(self) -> None:
        """Begin. The thread is started by another one, since in the main thread a signal handler may interrupt that."""
        for lock in (self._beginning, self._bell, self._end):
            lock.acquire(False)
        self._is_started = True
        start_new_thread(self._begin, ())  # a function of ours: eventlet takes one of threading's for a thread's body
        self._beginning.acquire(True, STOP_SECONDS)

    def _begin(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """End, and wait so long for the look that is under way; from within a look, end after it."""
        self._is_stopped = True
        with contextlib.suppress(RuntimeError):  # it has been rung already
            self._bell.release()
        until = time.monotonic() + seconds
        if not self._is_started or self._thread is threading.current_thread():
            return
        is_there = self._is_begun or self._beginning.acquire(True, min(1.0, seconds))  # else `start` was interrupted
        if is_there and (self._is_over or self._end.acquire(True, max(0.0, until - time.monotonic()))):
            self._thread.join(timeout=max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        self._is_begun = True
        self._beginning.release()
        try:
            while not self._is_stopped and not self._bell.acquire(True, self._pause()):
                self._look_once()
        finally:
            with contextlib.suppress(Exception):
                threads.about_to_end(self._thread)
            self._is_over = True
            self._end.release()

    def _look_once(self) -> None:
        began = time.thread_time()
        try:
            with exit_gate.at_work() as is_allowed:
                if is_allowed:
                    self._look()
        except BaseException:  # a handler of the log that ends the program ends this thread instead
            with contextlib.suppress(BaseException):
                guard.failed("sampler")
        self.looks += 1
        self.spent_seconds += time.thread_time() - began
