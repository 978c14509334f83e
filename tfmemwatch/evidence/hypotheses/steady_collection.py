"""A collection that nothing in the source can keep from growing, and that is longer at every step."""

from __future__ import annotations

from ...model import UNKNOWN
from ..answers import Answer
from ..evidence import Evidence
from .growing_collection import accused

_SHARE = 0.4  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """Before the time, in a loop with steps: it holds most of what has grown, and a line is known to fill it."""
    for one in evidence.collections:
        if not one.always_climbs or not evidence.may_accuse(one, _SHARE):
            continue
        holding = evidence.ask.holding(one.id)
        if holding is None or holding.is_bounded or holding.may_be_bounded or holding.line == UNKNOWN:
            continue
        if evidence.is_beside and holding.is_librarys:
            continue
        return accused(evidence, one, holding)
    return None
