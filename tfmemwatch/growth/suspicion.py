"""Whether memory in use seems to rise: the first suspicion, cheap, and often wrong."""

from __future__ import annotations

from typing import List, Optional, Tuple

# The scales: looks that make one floor, floors that are compared, and how many must rise. What
# allocates and frees much between two looks rises on the coarse one only.
LOOKS_OF_FLOOR = 3  # on the finest scale
_SCALES = ((LOOKS_OF_FLOOR, 9, 7), (24, 4, 3), (96, 4, 3))
_SLOWER = 0.5  # times as fast as what is worth a finding
_LEAST_RISE = 32 * 1024  # bytes over the first suspicion: below it is noise on any machine


class Suspicion:
    """Floors of what is in use, on each scale."""

    def __init__(self) -> None:
        self._foot = (0, 0.0)  # of the rise that was seen last: looks since then, and what was in use
        self._without_garbage: Optional[Tuple[int, float]] = None  # look and bytes in use, when it was asked last
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._floors: List[List[float]] = [[] for _ in _SCALES]
        self._least = [float("inf")] * len(_SCALES)
        self._looks = 0

    def is_confirmed(self, held: float, look: int, bytes_a_look: float) -> bool:
        """Whether so much is in use without garbage that the rise is none of garbage, and about as fast as this.

        The foot of a first rise has garbage in it; that of a later one is what was left when this was asked before.
        """
        looks, before = self._foot
        if self._without_garbage is not None:
            looks, before = look - self._without_garbage[0], self._without_garbage[1]
        self._without_garbage = look, held
        return held - before >= max(_LEAST_RISE, _SLOWER * bytes_a_look * looks)

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
        risen = len(floors) == most and ups >= needed and floors[-1] - floors[0] >= _LEAST_RISE
        if risen:
            self._foot = most * _SCALES[scale][0], floors[0]
        return risen
