"""Whether eager tensors grow in number: what three hypotheses ask."""

from __future__ import annotations

from .evidence import Evidence

_GOES_ON = 0.6  # of what the first half has added: the least that the second one must add


def more_tensors(evidence: Evidence) -> int:
    """How many there are more than when the inquiry began; 0 where they do not grow as steadily as the looks."""
    tensors = evidence.ask.tensors()
    more, first = tensors - evidence.first.tensors, evidence.middle.tensors - evidence.first.tensors
    if more < evidence.span // 2 or first <= 0 or more - first < _GOES_ON * first:
        return 0
    return max(1, tensors - evidence.tensors_at_first)


def newest(evidence: Evidence) -> int:
    """How many have come since growth is measured."""
    return evidence.ask.tensors() - evidence.first.tensors
