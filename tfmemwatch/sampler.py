"""The one thread: looks at regular times, and never in the way."""

from __future__ import annotations

import threading
import time
from typing import Callable

from . import guard


class Sampler:
    """Calls `look` every so many seconds until stopped; a daemon, and one that leaves at once."""

    def __init__(self, look: Callable[[], None], seconds: float) -> None:
        self._look = look
        self._seconds = seconds
        self.spent_seconds = 0.0
        self.looks = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tfmemwatch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the look that is under way; from within a look, end after it."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            began = time.thread_time()
            try:
                self._look()
            except Exception:
                guard.failed("sampler")
            self.looks += 1
            self.spent_seconds += time.thread_time() - began
