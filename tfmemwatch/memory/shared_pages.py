"""How much of resident memory this process shares with others: forked workers share what their parent had loaded."""

from __future__ import annotations

import re
import time
from typing import Callable, Optional

_APART_SECONDS = 60.0
_SHARE = 0.0005  # of the time that reading may take
_MOST_SECONDS = 0.05  # for one reading: the kernel goes through all pages, and mmap() may have to wait for it
_MOST_BYTES = 8 << 30  # resident: above this it may take longer
_ROWS = re.compile(rb"^(Rss|Pss): +(\d+) kB", re.M)


class SharedPages:
    """Reads seldom how much others have of the same pages; workers can then be added up, each page once."""

    def __init__(self, proc: str = "/proc", clock: Callable[[], float] = time.monotonic) -> None:
        self._file = proc + "/self/smaps_rollup"
        self._clock = clock
        self.start_afresh()

    def start_afresh(self) -> None:
        """In the child of a fork, which shares more."""
        self._with_others = 0  # of resident bytes, what others have to answer for
        self._next_at = 0.0
        self._is_over = False  # it takes too long, or can't be read

    def own_part(self, resident_bytes: int) -> int:
        """Resident bytes, each shared page divided by the processes that share it: what adds up over workers."""
        now = self._clock()
        if now >= self._next_at and not self._is_over and resident_bytes <= _MOST_BYTES:
            self._read(now)
        return max(0, resident_bytes - self._with_others)

    def _read(self, now: float) -> None:
        began = time.perf_counter()
        shared = self._shared()
        took = time.perf_counter() - began
        self._next_at = now + max(_APART_SECONDS, took / _SHARE)
        self._is_over = shared is None or took > _MOST_SECONDS
        self._with_others = self._with_others if shared is None else shared

    def _shared(self) -> Optional[int]:
        try:
            with open(self._file, "rb") as file:
                rows = dict(_ROWS.findall(file.read()))
            return max(0, 1024 * (int(rows[b"Rss"]) - int(rows[b"Pss"])))
        except (OSError, KeyError, ValueError):  # Linux before 4.14, or another system
            return None
