"""Tensors grow in number, and a collection holds them: many small ones that grow in turn, as like as not."""

from __future__ import annotations

from typing import List, Optional

from ...model import UNKNOWN
from ..answers import Accused, Answer, Filling
from ..evidence import Evidence, Holding
from ..tensors import more_tensors, newest

_SHARE = 0.5  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """The first collection around some of the newest tensors that may grow for ever, and that a line fills."""
    count = more_tensors(evidence)
    around: List[Optional[Holding]] = []
    for holding in evidence.ask.collections_of_newest(newest(evidence)) if count else ():
        around.append(holding)
        if holding is None or holding.is_bounded or holding.is_frameworks or holding.line == UNKNOWN:
            continue
        if _has_an_end(evidence, holding):
            return Filling()
        return Accused("live_tensors", holding.line, holding.path, count, evidence.grown, 0.8, holding.path,
                       is_of_tensors=True, length=holding.length)  # fmt: skip
    return Filling() if _is_held_by_bounded(evidence, around) else None


def _is_held_by_bounded(evidence: Evidence, around: List[Optional[Holding]]) -> bool:
    """Whether each collection around them has a bound, and they make up most of what has grown."""
    known = [holding for holding in around if holding is not None]
    if not known or not all(holding.is_bounded for holding in known):
        return False
    return evidence.ask.bytes_of_newest(newest(evidence)) >= _SHARE * evidence.grown


def _has_an_end(evidence: Evidence, holding: Holding) -> bool:
    """Whether it may be filling, up to a number in the source; was as long before; or fills ever more slowly."""
    rates = [one.rate for one in evidence.collections if one.id == holding.id and not evidence.by_clock]
    if holding.may_be_filling(holding.length, max(rates, default=1.0)) and not evidence.is_urgent:
        return True
    slowed = any(one.id == holding.id and one.has_slowed_down for one in evidence.collections)
    return holding.is_as_long_as_before or slowed
