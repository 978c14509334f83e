"""Python's small objects make up what has grown, and no collection that can be seen holds them."""

from __future__ import annotations

from ...model import UNKNOWN
from ..answers import Accused, Answer
from ..evidence import Evidence
from ..unnamed import doubted, is_straight


def ask(evidence: Evidence) -> Answer:
    """Their blocks have become as many."""
    if not is_straight(evidence) or not evidence.is_of_python:
        return None
    return doubted(Accused("python_heap", UNKNOWN, "", 0, evidence.grown, 0.5), evidence)
