"""Bytes in use at each look, and what is left of them after a collection."""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, List

from ...heap import collector
from ...memory.process import Memory, least
from ..evidence import Reading

_LOOKS_FOR_FLOOR = 12

Read = Callable[[], Memory]


class MemoryInUse:
    """Costs a number kept for each look; a reading costs a collection, and by the clock some readings of malloc."""

    def __init__(self, by_clock: bool) -> None:
        self._by_clock = by_clock
        self._recent: Deque[float] = deque(maxlen=_LOOKS_FOR_FLOOR)
        self._is_open = False
        self.at_each_look: List[float] = []  # of the inquiry

    def open(self) -> None:
        """An inquiry begins."""
        self._is_open = True
        self.at_each_look = []

    def look(self, held: float) -> None:
        """Take the bytes in use at one look, of an inquiry or between two of them."""
        self._recent.append(held)
        if self._is_open:
            self.at_each_look.append(held)

    def close(self) -> None:
        """The inquiry is over."""
        self._is_open = False

    def latest(self) -> float:
        """What was in use at the last look."""
        return self._recent[-1]

    def without_garbage(self, read: Read) -> float:
        """What is in use where what is young and waits for the collector has gone."""
        collector.collect_young()
        return float(read().held_bytes or 0)

    def collect(self) -> None:
        """A collection, as full as may be."""
        collector.collect(asked=not self._by_clock)

    def reading(self, look: int, now: float, read: Callable[[], Memory], least_held: float = 0.0) -> Reading:
        """What a collection has left; by the clock the least of some looks, since each may meet a call.

        In a program's own thread a full collection is dear: where what is young has gone, and no more is in use than
        `least_held`, nothing is to be known that it would tell.
        """
        if not self._by_clock and least_held:
            collector.collect_young()
            memory = read()
            if float(memory.held_bytes or 0) < least_held:
                return Reading(look, now, float(memory.held_bytes or 0), memory.python_blocks)
        self.collect()
        memory = read()
        held = float(memory.held_bytes or 0)
        if self._by_clock:
            held = min([least(lambda: float(read().held_bytes or 0)), *self._recent])
        return Reading(look, now, held, memory.python_blocks)
