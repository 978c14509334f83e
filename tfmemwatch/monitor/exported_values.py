"""What is exported of a watch now: one reading for all who ask within a second."""

from __future__ import annotations

import math
import os
import threading
from typing import Callable, List, Optional

from ..outputs.series import Family, Readings, taskname
from ..seams import runtime
from .watch import Watch

_ORPHANS_SECONDS = 600.0  # between two counts of functions without an owner
_MANY_FUNCTIONS = 50  # more or fewer than at the last count make another one worth while
_FRESH_SECONDS = 1.0  # scrapes within this share one reading


class ExportedValues:
    """The metrics of a watch, as families of series."""

    def __init__(self, watch: Watch, version: str, clock: Callable[[], float]) -> None:
        config = watch.config
        self._watch = watch
        self._clock = clock
        self._readings = Readings(
            version,
            config.max_labels,
            config.project,
            taskname(os.environ.get("TF_CONFIG", "")),
            watch.process.allocator.name,
        )
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget what was read: for the child of a fork."""
        self._lock = threading.Lock()
        self._reader: Optional[int] = None  # the thread that reads now
        self._latest: List[Family] = []
        self._orphans: Optional[int] = None
        self._functions = 0  # in TensorFlow's runtime, when orphans were counted last
        self._orphans_at = -math.inf
        self._read_at: Optional[float] = None

    def expire(self) -> None:
        """Read again for who asks next."""
        self._read_at = None

    def count_orphans(self) -> None:
        """Now and then, and only where the runtime's functions have changed in number: it is a look at the heap."""
        now = self._clock()
        if now < self._orphans_at or not self._watch.config.evidence:
            return
        count = runtime.registered_functions()
        if count is None or abs(count - self._functions) < _MANY_FUNCTIONS:
            return
        self._orphans_at, self._functions = now + _ORPHANS_SECONDS, count
        self._orphans = self._watch.answers.functions()[1]

    def families(self) -> List[Family]:
        """What is to be said now. Who comes while a look takes its time gets what was said before."""
        me = threading.get_ident()
        if self._reader == me:  # a signal handler or a finalizer, in the middle of our own reading
            return self._latest
        lock = self._lock
        if not lock.acquire(timeout=2 * _FRESH_SECONDS):
            if self._reader is None:  # nobody reads: who took it was interrupted before he could begin
                self._lock = threading.Lock()
            return self._latest
        try:
            self._reader = me
            now = self._clock()
            if self._read_at is None or now - self._read_at >= _FRESH_SECONDS:
                sample = self._watch.answers.sample(_FRESH_SECONDS if self._read_at is None else 0.05)
                if sample is not None:
                    self._latest = self._readings.families(sample._replace(orphan_functions=self._orphans))
                    self._read_at = now
            return self._latest
        finally:
            self._reader = None
            lock.release()
