"""Whether memory in use seems to rise: the first suspicion, cheap, and often wrong."""

from __future__ import annotations

from typing import List

# The scales: looks that make one floor, floors that are compared, and how many must rise. What
# allocates and frees much between two looks rises on the coarse one only.
LOOKS_OF_FLOOR = 3  # on the finest scale
_SCALES = ((LOOKS_OF_FLOOR, 9, 7), (24, 4, 3), (96, 4, 3))
_LEAST_RISE = 32 * 1024  # bytes over the first suspicion: below it is noise on any machine


class Suspicion:
    """Floors of what is in use, on each scale."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._floors: List[List[float]] = [[] for _ in _SCALES]
        self._least = [float("inf")] * len(_SCALES)
        self._looks = 0

    def rises(self, held: float) -> bool:
        """Take one reading."""
        self._looks += 1
        risen = False
        for scale, (looks, floors, needed) in enumerate(_SCALES):
            self._least[scale] = min(self._least[scale], held)
            if self._looks % looks == 0:
                risen = self._close(scale, floors, needed) or risen
        return risen

    def _close(self, scale: int, most: int, needed: int) -> bool:
        floors = self._floors[scale]
        floors.append(self._least[scale])
        self._least[scale] = float("inf")
        del floors[:-most]
        ups = sum(after > before for before, after in zip(floors, floors[1:]))
        return len(floors) == most and ups >= needed and floors[-1] - floors[0] >= _LEAST_RISE
