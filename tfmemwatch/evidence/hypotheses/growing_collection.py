"""A collection of the program's is filled and never emptied."""

from __future__ import annotations

from ...model import UNKNOWN
from ..answers import AS_FILLING, TOLD, Accused, Answer, LookOn
from ..evidence import Collection, Evidence, Holding
from ..schedule import LOOKS

_SHARE = 0.1  # of what has grown
_OFTEN = 1 / 8  # of the looks


def ask(evidence: Evidence) -> Answer:
    """The heaviest that goes on to climb; one that may have a bound is looked at for longer first."""
    is_early = not evidence.is_urgent and evidence.looks < (1.5 if evidence.by_clock else 2) * LOOKS
    for one in sorted(evidence.collections, key=lambda one: -evidence.bytes_of(one)):
        if one.climbs < _OFTEN * evidence.looks or not one.goes_on or not evidence.may_accuse(one, _SHARE):
            continue
        holding = evidence.ask.holding(one.id)
        if holding is None or holding.is_bounded or (holding.line == UNKNOWN and holding.is_librarys):
            continue  # what a library keeps inside, and no line of the program's is known to fill, is its own affair
        if holding.may_be_filling(holding.length, 0.0 if evidence.by_clock else one.rate) and not evidence.is_urgent:
            continue
        if evidence.is_beside and holding.is_librarys:
            continue  # as like as not it comes with what is told
        if one.slows_down and not is_early:
            continue
        if is_early and (holding.may_be_bounded or one.slows_down):
            # What things are taken out of may well have a bound; by the clock what is found is no warning yet.
            return LookOn(0.5 if evidence.by_clock else 1.0)
        first_time = AS_FILLING if holding.may_be_bounded and evidence.by_clock else TOLD
        return accused(evidence, one, holding, first_time)
    return None


def accused(evidence: Evidence, one: Collection, holding: Holding, first_time: str = TOLD) -> Accused:
    """The accusation: tensors or Python objects, put into what has this name."""
    story = "live_tensors" if evidence.ask.weight(one.id).tensors >= 0.5 else "python_objects"
    if holding.is_cache and story == "live_tensors":
        story = "tensor_cache"
    size = evidence.bytes_of(one)
    if not evidence.is_beside:  # else the rest has a finding of its own
        size = max(evidence.grown, size) if evidence.by_clock else evidence.grown
    return Accused(story, holding.line, holding.path, one.grown, size, 0.95, holding.path, one.rate,
                   first_time, holding.path, holding.way, length=holding.length, items=evidence.ask.items(one.id),
                   is_taken_from=holding.is_taken_from)  # fmt: skip
