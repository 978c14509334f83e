"""By the clock a look is no measure of what the program did: what goes on to rise may still become much."""

from __future__ import annotations

from ..answers import Answer, LookOn
from ..evidence import Evidence
from ..schedule import LOOKS
from ..unnamed import is_enough, may_be_asked


def ask(evidence: Evidence) -> Answer:
    """It is too early, or too little yet."""
    if not evidence.by_clock or evidence.is_urgent or evidence.looks > 2 * LOOKS or not may_be_asked(evidence):
        return None
    return LookOn(1.0) if evidence.looks < 2 * LOOKS or not is_enough(evidence) else None
