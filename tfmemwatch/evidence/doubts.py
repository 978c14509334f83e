"""The first time doubted, the second time believed: what has a bound may have met it by the next inquiry."""

from __future__ import annotations

from typing import Dict

from .answers import AS_FILLING, TOLD, Accused

_MOST = 100


class Doubts:
    """What inquiries have come to once."""

    def __init__(self) -> None:
        self._since: Dict[str, int] = {}
        self._round = 0

    def begin_round(self) -> None:
        """Hypotheses are asked anew: what was doubted before this is believed now."""
        self._round += 1

    def first_time(self, accused: Accused) -> str:
        """What becomes of an accusation: it is told, told as what may fill, or not told yet."""
        if accused.first_time == TOLD or self._is_known(accused.known_as):
            return TOLD
        return accused.first_time

    def _is_known(self, name: str) -> bool:
        if name not in self._since and len(self._since) > _MOST:
            return True
        return self._since.setdefault(name, self._round) < self._round


def is_sure(becomes: str) -> bool:
    """Whether what is told is told as a leak."""
    return becomes != AS_FILLING
