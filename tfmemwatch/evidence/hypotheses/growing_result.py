"""The result of an operation is larger each time; which name leads to it is not known."""

from __future__ import annotations

from ..answers import Accused, Answer, Filling
from ..evidence import Evidence
from ..unnamed import doubted, is_ripe

_SHARE = 0.5  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """It grows by as much as what is kept."""
    row = evidence.growing_result(_SHARE) if is_ripe(evidence) else None
    if row is None:
        return None
    if evidence.ask.is_cut(row.site) and not evidence.is_urgent:
        return Filling()
    return doubted(Accused("growing_tensor", row.site, row.name, row.calls, evidence.grown, 0.7), evidence)
