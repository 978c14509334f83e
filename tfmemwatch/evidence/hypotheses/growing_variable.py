"""A variable of unknown shape is assigned a larger value each time."""

from __future__ import annotations

from ...units import size_of
from ..answers import SILENT, Accused, Answer
from ..evidence import Evidence

_SHARE = 0.3  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """What is assigned at a line grows by as much: a variable keeps what it was assigned last."""
    row = evidence.growing_result(_SHARE, assigned=True) if evidence.is_steady else None
    if row is None:
        return None
    # A window that fills has met its end by the next time.
    return Accused("growing_variable", row.site, size_of(row.latest_bytes), 0, evidence.grown, 0.8, first_time=SILENT,
                   known_as="growing")  # fmt: skip
