"""What the watch may cost, and what follows when it costs more. Knows no clock: times in, a word out."""

from __future__ import annotations

from typing import Optional

WINDOW_SECONDS = 60.0  # over which the cost is averaged: an inquiry costs more for a moment, and then nothing for long
_LEAST_LOOKS = 8
_QUIET_WINDOWS = 10  # within budget before it is tried again at the level that was too dear; doubles each time


class Budget:
    """Compares what the watch has spent with the time that has passed, window by window."""

    def __init__(self, most: float, window_seconds: float = WINDOW_SECONDS) -> None:
        self.most = most
        self.share = 0.0  # of the last whole window
        self._window = window_seconds
        self._began: Optional[float] = None
        self._spent = 0.0
        self._looks = self._lowered = self._quiet = 0
        self._patience = _QUIET_WINDOWS

    @property
    def is_lowered(self) -> bool:
        """Whether the watch looks less closely than it was told to."""
        return self._lowered > 0

    def look(self, now: float, spent: float) -> str:
        """Take the time and what was spent so far, both in seconds: "lower", "raise", or nothing to do."""
        if self._began is None:
            self._began, self._spent = now, spent
            return ""
        self._looks += 1
        passed = now - self._began
        if passed < self._window or self._looks < _LEAST_LOOKS:
            return ""
        self.share = max(0.0, spent - self._spent) / passed
        self._began, self._spent, self._looks = now, spent, 0
        if self.share > self.most:
            self._lowered += 1
            self._quiet = 0
            self._patience *= 2 if self._patience < 1000 else 1
            return "lower"
        self._quiet += 1
        if self._lowered and self._quiet >= self._patience:
            self._lowered -= 1
            self._quiet = 0
            return "raise"
        return ""
