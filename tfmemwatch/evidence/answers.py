"""What a hypothesis may answer: who is accused, that something fills, that more is to be seen; or nothing (None)."""

from __future__ import annotations

from typing import NamedTuple, Optional, Union

from ..explain.advice import advice
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
    own_bytes: Optional[float] = None  # of those that have grown, where it is known how many are its own


class Filling(NamedTuple):
    """What grows may have an end: hypotheses with a name are still asked, those without are not."""

    what: str = ""  # that fills, in words, where that is known


class LookOn(NamedTuple):
    """More is to be seen: by this share of the looks there have been."""

    share: float
    leaves_first_half: bool = False  # the second half is the first from now on


Answer = Union[Accused, Filling, LookOn, None]


def finding_of(accused: Accused, evidence: Evidence, is_sure: bool, per: str) -> Finding:
    """The finding that an accusation makes."""
    row = advice(accused.story, accused.what)
    unit = evidence.looks_in_an_hour if evidence.by_clock else 1.0
    rate = accused.number / max(1, evidence.looks) if accused.rate is None else accused.rate
    return Finding(
        kind=row.kind, site=accused.site, since=evidence.first.now, grown=accused.number, rate=rate * unit, per=per,
        bytes=int(accused.bytes), verdict=LEAK if is_sure else FILLING, cause=row.cause, cure=row.cure,
        confidence=accused.confidence if is_sure else accused.confidence / 2, holder=accused.holder,
        leaves=accused.bytes / max(1, evidence.span) * unit,
    )  # fmt: skip
