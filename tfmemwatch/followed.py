"""A collection under watch while an inquiry lasts."""

from __future__ import annotations

import math
import sys
from typing import Any, List, Optional

from . import census


class Followed:
    """One collection, and how its length went from look to look."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.start = len(thing)
        self.climbs = 0
        self.last = self.start
        self._climbed: List[bool] = []  # at each look; there are as many as an inquiry has looks
        self._weight: Optional[census.Weight] = None

    def look(self) -> None:
        length = len(self.thing)
        self._climbed.append(length > self.last)
        self.climbs += length > self.last
        self.last = length
        self._weight = None

    @property
    def goes_on(self) -> bool:
        """Whether it climbed about as often in the later half of the looks as in the earlier one."""
        half = len(self._climbed) // 2
        return sum(self._climbed[half:]) >= 0.6 * sum(self._climbed[:half])

    @property
    def slows_down(self) -> bool:
        """Whether it climbed less often in the later half than chance allows: a cache that fills by chance."""
        half = len(self._climbed) // 2
        first, second = sum(self._climbed[:half]), sum(self._climbed[-half:])
        missed = 1 - (first + second) / max(1, 2 * half)
        return first - second > 1.5 * math.sqrt((first + second) * missed) + 1

    @property
    def has_slowed_down(self) -> bool:
        return self.slows_down or not self.goes_on

    @property
    def grown(self) -> int:
        return self.last - self.start

    @property
    def rate(self) -> float:
        """By how much it grows from look to look."""
        return self.grown / max(1, len(self._climbed))

    @property
    def always_climbs(self) -> bool:
        """Whether it has climbed at almost every look."""
        return self.climbs >= 0.9 * len(self._climbed)

    @property
    def weight(self) -> census.Weight:
        """What one more item costs."""
        if self._weight is None:
            self._weight = census.weight_of_item(self.thing, self.grown)
        return self._weight

    @property
    def bytes(self) -> float:
        """About how much more it holds than when it was found."""
        return self.grown * self.weight.bytes

    @property
    def is_ours_alone(self) -> bool:
        """The program has let go of it, so must we: one reference is this object's, one the question's."""
        return sys.getrefcount(self.thing) <= 2
