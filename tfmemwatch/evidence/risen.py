"""In a loop with steps: whether memory has risen by what is worth an inquiry, and is no garbage.

An inquiry takes a second of the loop's own thread, a full collection a tenth of that, a young one next to none.
"""

from __future__ import annotations

from typing import List, Tuple

from ..safety import guard
from .instruments.memory_in_use import MemoryInUse, Read

_FIRST = 3  # look at which a floor is read: what a step makes once is there, and little garbage
_FLOOR_EACH, _SOON = 32, 8  # looks between two more of them, the first of which is near
_CHECK_AFTER = 12  # looks after a collection, what is left of a rise is looked at again; then twice as many
_OF_LEAST = 0.75  # of what is worth a finding: so much must have risen, since a dozen steps are noisy


class Risen:
    """Floors: what is in use without garbage, now and then."""

    def __init__(self, memory: MemoryInUse, bytes_a_look: float) -> None:
        self._memory = memory
        self._least = _OF_LEAST * bytes_a_look
        self._floors: List[Tuple[int, float]] = []  # looks, and bytes
        self._held = 0.0
        self._disturbed = guard.disturbances[0]
        self._check_at, self.check_after = -1, _CHECK_AFTER

    def look(self, looks: int, held: float, read: Read) -> bool:
        """Take what is in use, and read a floor where one is due; True where it is to be asked again."""
        disturbed, self._disturbed = self._disturbed, guard.disturbances[0]
        if disturbed != self._disturbed:  # the watch itself has taken or given back some since the last look
            self._floors = [(look, floor + held - self._held) for look, floor in self._floors]
        self._held = held
        if looks == _FIRST or looks % _FLOOR_EACH == _SOON:
            self._floors = [*self._floors[-1:], (looks, self._memory.without_garbage(read))]
        return looks == self._check_at

    def is_young_garbage(self, looks: int, read: Read) -> bool:
        """Whether what rises has gone with what was young."""
        return self._memory.without_garbage(read) < self._worth(looks)

    def is_garbage(self, looks: int, read: Read) -> bool:
        """The same after a full collection, which is a new floor."""
        self._memory.collect()
        held = self._memory.without_garbage(read)
        if held >= self._worth(looks):
            return False
        self._floors = [(looks, held)]
        self._check_at = looks + self.check_after
        self.check_after *= 2
        return True

    def _worth(self, looks: int) -> float:
        look, held = self._floors[0] if self._floors else (looks, 0.0)
        return held + self._least * (looks - look)
