"""What a detector reads of the watch that it belongs to, and what it may have done."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import Callable, Dict, FrozenSet, Iterator, List, Optional

from ..errors import Unavailable
from ..evidence.call_growth import Row
from ..heap.room import room
from ..model import UNKNOWN, Finding, Site
from ..probes import datasets, tapes
from ..probes.datasets import Remembering
from ..safety import guard
from ..seams.caches import clear_kernel_cache, clear_scalar_cache
from .state import State

_MOST_CACHES = 10000  # datasets that remember elements
_CACHES = (("kernel cache", clear_kernel_cache), ("scalar cache", clear_scalar_cache))


class Readings:
    """Counts and memory, which come cheap, and what is asked where these explain nothing."""

    def __init__(self, state: State, explained: Callable[[Finding], Finding]) -> None:
        self._state = state
        self._is_refused = False
        self.config = state.config
        self.ledger = state.ledger
        self.operations = state.operations
        self.counts = state.read
        self.memory = state.process.read
        self.would_tell_more = state.level.hint  # which level would tell more
        self.explained = explained
        self.level = state.level

    @property
    def left_bytes(self) -> Optional[float]:
        """Below the nearest limit; None where there is none."""
        limit = next(iter(self._state.ahead.limits), None)
        return None if limit is None else limit.left_bytes

    def may_take_evidence(self) -> bool:
        """Not where so little memory is left that an inquiry, which takes some, could be the end; the log says so."""
        limit = next(iter(self._state.ahead.limits), None)
        is_near = not room.below(None if limit is None else limit.left_bytes)
        if is_near and not self._is_refused:
            guard.logger.info(
                "memory is near its limit (%s); no evidence is taken until more is free", limit and limit.name
            )
        self._is_refused = is_near
        return not is_near

    def can_afford_evidence(self) -> bool:
        """Not while what evidence has taken so far is more than its share of the time."""
        return self._state.allowance.has_some(time.monotonic())

    @contextmanager
    def taking_evidence(self) -> Iterator[None]:
        """What the thread of the watch spends on it."""
        began = time.thread_time()
        try:
            yield
        finally:
            self._state.evidence_took(time.thread_time() - began)

    def tapes(self, seconds: float) -> List[Site]:
        """Where the tapes were opened that have recorded for so long; those from before the watch are looked for."""
        probes = self._state.probes
        found = probes.ask(lambda probe: probe.recording(seconds))
        return found or tapes.lines_from_before(frozenset(probes.ask(lambda probe: probe.tapes())))

    def endless_retraces(self) -> FrozenSet[Site]:
        """Lines that trace a function again and again, a dozen times and more, for what has no end."""
        return frozenset(self._state.probes.ask(lambda probe: probe.endless_retraces())) - {UNKNOWN}

    def has_caches(self) -> bool:
        """Whether a dataset is there that keeps in memory what passes: through its first epoch it grows straight."""
        return bool(self.ledger.references("cache_dataset", 1))

    def remembering(self) -> List[Remembering]:
        """Datasets that were told to remember elements."""
        return datasets.remembering([at for at, _ in self.ledger.references("cache_dataset", _MOST_CACHES)])

    def calls(self) -> List[Row]:
        """What the calls of each living model have left, of those that were measured often enough."""
        return [Row(*row) for row in self._state.probes.ask(lambda probe: probe.call_growth())]

    def empty_caches(self) -> Dict[str, int]:
        """Empty TensorFlow's caches of kernels and numbers; bytes that each gave back."""
        given = {}
        for name, empty in _CACHES:
            try:
                before = self._state.process.in_use_bytes()
                empty()
                after = self._state.process.in_use_bytes()
                given[name] = before - after if before is not None and after is not None else 0
            except Unavailable:
                continue
            except Exception:
                guard.failed("emptying the " + name)
        return given
