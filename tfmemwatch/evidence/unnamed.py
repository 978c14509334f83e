"""What nothing with a name explains: when it may be accused, and as what the first time."""

from __future__ import annotations

from typing import Optional

from .answers import AS_FILLING, SILENT, Accused
from .evidence import Evidence
from .operations import Operation
from .schedule import LOOKS

# Operations that put something into what TensorFlow keeps for the program, and those that take it out again.
_TAKES_IN = {"QueueEnqueue": "QueueDequeue", "LookupTableInsert": "LookupTableRemove", "Stage": "Unstage",
             "MapStage": "MapUnstage", "OrderedMapStage": "OrderedMapUnstage",
             "BarrierInsert": "BarrierTake", "StackPush": "StackPop"}  # fmt: skip
_OFTEN = 1 / 8  # of the looks
_FIRST_HALF = 0.58  # share of the growth in a loop: of what fills by chance and can't be seen, it is a little more
_MOST_TAKEN = 0.7  # of what is put in: what takes as much is no leak


def may_be_asked(evidence: Evidence) -> bool:
    """Whether it grows in a straight line, on its floors too, and nothing was seen that has an end."""
    return evidence.is_steady and not evidence.has_an_end and evidence.floor_rises


def is_enough(evidence: Evidence) -> bool:
    """Whether it is much; what is put in and not taken out again needs less."""
    return evidence.is_material(evidence.grown, 2) if puts_in(evidence) is not None else evidence.is_much


def is_ripe(evidence: Evidence) -> bool:
    """Whether it may be accused: by the clock only after twice the looks, where there is time for them."""
    if not may_be_asked(evidence) or not is_enough(evidence):
        return False
    return not evidence.by_clock or evidence.is_urgent or evidence.looks >= 2 * LOOKS


def is_straight(evidence: Evidence) -> bool:
    """Whether it is ripe, and a loop left almost as much in its second half as in its first: it does not fill."""
    is_even = evidence.by_clock or evidence.grown_in_first_half <= _FIRST_HALF * evidence.grown
    return is_even and is_ripe(evidence)


def puts_in(evidence: Evidence) -> Optional[Operation]:
    """An operation that puts into a queue or a table much more than is taken out of it."""
    for row in evidence.operations:
        for puts, takes in _TAKES_IN.items():
            if not row.name.startswith(puts) or row.calls < _OFTEN * evidence.window:
                continue
            taken = sum(other.calls for other in evidence.operations if other.name.startswith(takes))
            if taken <= _MOST_TAKEN * row.calls:
                return row
    return None


def doubted(accused: Accused, evidence: Evidence) -> Accused:
    """What fills and is emptied in turn looks different the next time; by the clock a start-up can last for hours."""
    return accused._replace(first_time=AS_FILLING if evidence.by_clock else SILENT, known_as="the rest")
