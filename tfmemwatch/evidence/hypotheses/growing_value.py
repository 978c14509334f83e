"""An array, a text or bytes with a name that is larger each time."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..unnamed import doubted, is_ripe

_SHARE = 0.4  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """One has grown by as much, and a line is known that renews it."""
    value = evidence.ask.grown_value(_SHARE * evidence.grown) if is_ripe(evidence) else None
    if value is None or value.line is None:
        return None
    return doubted(Accused("growing_value", value.line, value.path, 0, evidence.grown, 0.8, value.path), evidence)
