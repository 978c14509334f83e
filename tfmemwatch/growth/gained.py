"""What memory in use has gained since a moment: its floors over time, in a few numbers."""

from __future__ import annotations

from typing import List, Optional, Tuple

_MOST = 64  # blocks
_LOOKS = 4  # in the first ones


class Gained:
    """The least of some looks each: calls in flight, and what waits for the collector, vanish from it."""

    def __init__(self) -> None:
        self._floors: List[Tuple[float, float]] = []  # when each block began, and its least value
        self._looks = _LOOKS  # of one block
        self._left = 0  # of the last one

    def look(self, now: float, value: float) -> None:
        """Take the value of one look."""
        if self._left:
            began, least = self._floors[-1]
            self._floors[-1] = (began, min(least, value))
        else:
            self._floors.append((now, value))
            self._left = self._looks
        self._left -= 1
        if len(self._floors) > _MOST and not self._left:
            self._halve()

    def since(self, when: float, now: float) -> Optional[float]:
        """How much more there is now than then; None where that is not known yet.

        A floor of what grows is its beginning: what has come since the last floor began is taken to be as much a
        while as before.
        """
        floors = self._floors[:-1] if self._left else self._floors
        first = next((one for one in reversed(floors) if one[0] <= when), floors[0] if floors else (0.0, 0.0))
        if not floors or floors[-1][0] <= first[0]:
            return None
        (began, low), (ended, high) = first, floors[-1]
        return (high - low) * (now - max(when, began)) / (ended - began)

    def _halve(self) -> None:
        """Two blocks become one."""
        floors = self._floors
        self._floors = [(one[0], min(one[1], other[1])) for one, other in zip(floors[::2], floors[1::2])]
        if len(floors) % 2:
            self._floors.append(floors[-1])
            self._left = self._looks
        self._looks *= 2
