"""Python's small objects make up what has grown, and no collection that can be seen holds them."""

from __future__ import annotations

from ...memory.process import PYTHON_BLOCK_BYTES
from ...model import UNKNOWN
from ..answers import Accused, Answer
from ..evidence import Evidence
from ..unnamed import doubted, is_ripe

_SHARE = 0.5  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """Their blocks have become as many."""
    blocks = evidence.last.python_blocks - evidence.first.python_blocks
    if not is_ripe(evidence) or blocks * PYTHON_BLOCK_BYTES <= _SHARE * evidence.grown:
        return None
    return doubted(Accused("python_heap", UNKNOWN, "", 0, evidence.grown, 0.5), evidence)
