"""Growth is bent by one jump (a pool of threads that starts): the half before is left behind, the next half decides."""

from __future__ import annotations

from ..answers import Answer, LookOn
from ..evidence import Evidence

_MOST_TIMES = 3  # that an inquiry leaves its first half behind


def ask(evidence: Evidence) -> Answer:
    """It is straight without the one part that rose most, and the later half is worth a finding."""
    if evidence.is_steady or evidence.looked_on >= _MOST_TIMES:
        return None
    later = evidence.grown - evidence.grown_in_first_half
    if not evidence.is_material(2 * later) or not evidence.has_jumped:
        return None
    return LookOn(1.0, leaves_first_half=True)
