"""One tensor that is made anew with more in it each time, and kept."""

from __future__ import annotations

from ..answers import SILENT, Accused, Answer, Filling
from ..evidence import Evidence

_SHARE = 0.3  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """An operation's result grows by as much, and a name leads to a tensor of this size."""
    row = evidence.growing_result(_SHARE) if evidence.is_steady else None
    path = evidence.ask.largest_tensor(_SHARE * evidence.grown) if row is not None else None
    if row is None or path is None:
        return None
    if evidence.ask.is_cut(row.site) and not evidence.is_urgent:
        return Filling("%s is made longer, and cut" % path)
    # A window that fills has met its end by the next time.
    return Accused("growing_tensor", row.site, row.name, row.calls, evidence.grown, 0.8, path, first_time=SILENT,
                   known_as="growing")  # fmt: skip
