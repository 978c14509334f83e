"""One collection that grows, looked at while an inquiry lasts."""

from __future__ import annotations

import math
from typing import List, Optional

from ..holders.search import Way
from ..holders.steps import length_at
from . import census
from .evidence import Collection

_MOST_LOST = 3  # looks in a row at which it is not where it was


class GrowingCollection:
    """One collection, and how its length went from look to look; not the collection itself, but the way to it."""

    def __init__(self, way: Way, length: int) -> None:
        self.way = way
        self.start = self.last = self._high = length
        self.climbs = 0
        self._lost = 0
        self._rises: List[int] = []  # at each look, of its length
        self._weight: Optional[census.Weight] = None

    def look(self) -> None:
        """Ask how long it is now."""
        length = length_at(self.way)
        self._lost = self._lost + 1 if length is None else 0
        self.saw(self.last if length is None else length)

    def saw(self, length: int) -> None:
        """It is so long now. Only what is longer than ever before is growth: what empties and fills again is not."""
        self._rises.append(max(0, length - self._high))
        self.climbs += length > self._high
        self._high = max(self._high, length)
        self.last = length
        self._weight = None

    @property
    def id(self) -> int:
        """Its id, as long as it lives."""
        return self.way.steps[-1]

    @property
    def _climbed(self) -> List[bool]:
        return [rise > 0 for rise in self._rises]

    @property
    def goes_on(self) -> bool:
        """Whether it climbed about as often in the later half of the looks as in the earlier one."""
        climbed, half = self._climbed, len(self._rises) // 2
        return sum(climbed[half:]) >= 0.6 * sum(climbed[:half])

    @property
    def slows_down(self) -> bool:
        """Whether it climbed less often in the later half than chance allows: a cache that fills by chance."""
        climbed, half = self._climbed, len(self._rises) // 2
        first, second = sum(climbed[:half]), sum(climbed[-half:])
        missed = 1 - (first + second) / max(1, 2 * half)
        return first - second > 1.5 * math.sqrt((first + second) * missed) + 1

    @property
    def number_of_looks(self) -> int:
        """How often it was looked at."""
        return len(self._rises)

    def thin_out(self) -> None:
        """Take two looks for one."""
        self._rises = [sum(self._rises[at : at + 2]) for at in range(0, len(self._rises), 2)]
        self.climbs = sum(map(bool, self._rises))

    @property
    def always_climbs(self) -> bool:
        """Whether it was longer at almost every look."""
        return self.climbs >= 0.9 * len(self._rises)

    @property
    def adds_less(self) -> bool:
        """Whether fewer items came in the later half than chance allows: keys of a set that has an end come again."""
        half = len(self._rises) // 2
        first, second = sum(self._rises[:half]), sum(self._rises[-half:])
        return first - second > 1.5 * math.sqrt(first + second) + 1

    @property
    def grown(self) -> int:
        """Items more than when it was found."""
        return self.last - self.start

    @property
    def weight(self) -> census.Weight:
        """What one more item costs."""
        if self._weight is None:
            self._weight = census.weight_at(self.way, self.grown)
        return self._weight

    @property
    def has_gone(self) -> bool:
        """Whether the program has it no more where it was."""
        return self._lost >= _MOST_LOST

    def row(self) -> Collection:
        """What was seen of it."""
        return Collection(self.id, self.grown, len(self._rises), self.climbs, self.goes_on, self.slows_down)
