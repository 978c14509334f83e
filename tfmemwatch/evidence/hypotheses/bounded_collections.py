"""Collections with a name hold most of it: those that may grow for ever would have been accused."""

from __future__ import annotations

from ..answers import Answer, Filling
from ..evidence import Evidence

_SHARE = 0.5  # of what has grown, for all of them
_LEAST = 0.05  # for each


def ask(evidence: Evidence) -> Answer:
    """Whether they hold most of what has grown."""
    held = 0.0
    for one in evidence.collections if evidence.is_steady else ():
        size = evidence.bytes_of(one)
        if one.grown > 0 and size >= _LEAST * evidence.grown and evidence.ask.holding(one.id) is not None:
            held += size
    return Filling() if held > 0 and held >= _SHARE * evidence.grown else None
