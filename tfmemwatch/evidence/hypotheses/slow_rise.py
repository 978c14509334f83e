"""Memory in use rises too slowly for an inquiry, and goes on and on."""

from __future__ import annotations

from typing import List

from ...explain.advice import advice
from ...model import LEAK, Finding
from ..background import Background


def ask(background: Background) -> List[Finding]:
    """A straight rise of thousands of looks, while nothing is known to fill."""
    growth = background.slow_rise
    if growth is None or background.is_filling:
        return []
    site, what = background.heaviest
    told = advice("slow_rise", what)
    return [Finding(
        kind=told.kind, site=site, since=0.0, grown=0, rate=0.0, per=background.per,
        bytes=int(growth.last - growth.first), verdict=LEAK, cause=told.cause, cure=told.cure, confidence=0.5,
    )]  # fmt: skip
