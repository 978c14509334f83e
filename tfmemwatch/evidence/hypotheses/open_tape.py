"""A gradient tape that records and does not end holds all that every operation under it takes and gives."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..tensors import more_tensors


def ask(evidence: Evidence) -> Answer:
    """Tensors grow in number, and a tape records."""
    count = more_tensors(evidence)
    if not count:
        return None
    # By the clock one reads in the middle of a step, and its tape is open.
    tapes = evidence.ask.tapes(evidence.last.now - evidence.first.now if evidence.by_clock else 0.0)
    if not tapes:
        return None
    summing = evidence.ask.summing()
    if summing is not None:
        return Accused("summed_under_tape", summing, "", count, evidence.grown, 0.8, is_of_tensors=True)
    return Accused("open_tape", tapes[0], "", count, evidence.grown, 0.9, is_of_tensors=True)
