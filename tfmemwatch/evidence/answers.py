"""What a hypothesis may answer: who is accused, that something fills, that more is to be seen; or nothing (None)."""

from __future__ import annotations

from typing import NamedTuple, Optional, Union

from ..explain.advice import advice, of_items
from ..holders.search import Way
from ..model import FILLING, LEAK, Finding, Site
from .evidence import Evidence

# What becomes of an accusation the first time that an inquiry comes to it.
TOLD = "told"
SILENT = "silent"  # it is believed when another inquiry comes to it again
AS_FILLING = "as what may fill"  # it is told, but not as a leak


class Accused(NamedTuple):
    """A leak: its story in the table of advice, its line, and how one knows."""

    story: str
    site: Site
    what: str
    number: int  # of what has come: the finding's `grown`
    bytes: float
    confidence: float
    holder: str = ""
    rate: Optional[float] = None  # more at each look, where another number is known than the count over the looks
    first_time: str = TOLD
    known_as: str = ""  # what it is doubted as, the first time
    collection: Optional[Way] = None  # whose length says whether it goes on
    is_of_tensors: bool = False  # whose number says whether it goes on
    length: int = 0  # of all of the collection, where that is known
    items: str = ""  # of what kind those of the collection are, where the cure depends on it
    is_taken_from: bool = False  # whether some of them are taken out again
    is_in_jumps: bool = False  # memory rests between two of them: that it does says nothing
    own_bytes: Optional[float] = None  # of those that have grown, where it is known how many are its own


class Filling(NamedTuple):
    """What grows may have an end: hypotheses with a name are still asked, those without are not."""

    what: str = ""  # that fills, in words, where that is known


class LookOn(NamedTuple):
    """More is to be seen: by this share of the looks there have been."""

    share: float
    leaves_first_half: bool = False  # the second half is the first from now on


_ABOUT = 0.2  # of the time since the watch began

Answer = Union[Accused, Filling, LookOn, None]


def finding_of(accused: Accused, evidence: Evidence, is_sure: bool, per: str, unit: float) -> Finding:
    """The finding that an accusation makes; `unit` is the number of looks in a step or hour."""
    row = of_items(advice(accused.story, accused.what), accused.items, accused.what, accused.is_taken_from)
    rate = accused.number / max(1, evidence.looks) if accused.rate is None else accused.rate
    number, since, size = accused.number, evidence.first.now, accused.bytes
    began = _began(accused.length, rate, evidence)
    if began is not None and accused.length > number:
        number, since, size = accused.length, began, size * accused.length / max(1, number)
    return Finding(
        kind=row.kind, site=accused.site, since=since, grown=number, rate=rate * unit, per=per,
        bytes=int(size), verdict=LEAK if is_sure else FILLING, cause=row.cause, cure=row.cure,
        confidence=accused.confidence if is_sure else accused.confidence / 2, holder=accused.holder,
        leaves=accused.bytes / max(1, evidence.span) * unit,
    )  # fmt: skip


def _began(length: int, rate: float, evidence: Evidence) -> Optional[float]:
    """When a collection began to grow, where all of it has come at the pace of now since the watch began."""
    span = evidence.last.now - evidence.first.now
    if length <= 0 or rate <= 0 or span <= 0 or evidence.span <= 0:
        return None
    began = evidence.last.now - length / rate * span / evidence.span
    return max(0.0, began) if abs(began) <= _ABOUT * evidence.last.now else None
