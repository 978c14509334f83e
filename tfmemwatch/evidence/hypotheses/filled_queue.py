"""More is put into a queue or a table that TensorFlow keeps than is ever taken out of it."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..unnamed import doubted, is_ripe, puts_in


def ask(evidence: Evidence) -> Answer:
    """An operation that puts in, and none that takes as much out."""
    row = puts_in(evidence) if is_ripe(evidence) else None
    if row is None:
        return None
    return doubted(Accused("backlog", row.site, row.name, 0, evidence.grown, 0.7), evidence)
