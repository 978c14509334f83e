"""Nothing that can be named or counted holds it: native memory."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..unnamed import doubted, is_straight


def ask(evidence: Evidence) -> Answer:
    """Asked last: the line whose calls have left most in use, where there is one."""
    if not is_straight(evidence):
        return None
    site, name = evidence.heaviest
    return doubted(Accused("native_heap", site, name, 0, evidence.grown, 0.5), evidence)
