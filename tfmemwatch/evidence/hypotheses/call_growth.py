"""What calls of a model leave in native memory, and no object explains."""

from __future__ import annotations

from typing import List

from ...explain.advice import advice
from ...model import FILLING, LEAK, Finding
from ..background import Background

_SURE_LOOKS = 1000  # that what has no name must go on for, not to be a cache that still fills


def ask(background: Background) -> List[Finding]:
    """Each way of calling a model that leaks."""
    findings = []
    verdict = LEAK if background.looks_of_calls >= _SURE_LOOKS else FILLING
    for row in background.calls:
        told = advice("call_residue", row.cause)
        findings.append(Finding(
            kind=told.kind, site=row.site, since=0, grown=0, rate=0.0, per=background.per, bytes=int(row.rise.bytes),
            verdict=verdict, cause=told.cause, cure=told.cure, confidence=0.8,
        ))  # fmt: skip
    return findings
