"""Nothing leaks, and the allocator keeps ever more."""

from __future__ import annotations

from typing import List

from ...explain.advice import advice
from ...model import RETAINED, Finding, Site
from ..background import Background

_PROCESS = Site("", 0, "the process")


def ask(background: Background) -> List[Finding]:
    """Bytes that the allocator keeps go on to grow while those in use stand still."""
    kept = background.kept_by_allocator
    if kept is None:
        return []
    told = advice("fragmentation")
    return [Finding(
        kind=told.kind, site=_PROCESS, since=0, grown=0, rate=0.0, per=background.per, bytes=int(kept),
        verdict=RETAINED, cause=told.cause, cure=told.cure, confidence=0.6,
    )]  # fmt: skip
