"""An operation asks for ever new attributes, or a compiled function for ever new shapes: a cache keeps each."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..operations import by_key, functions_together, story_of

_SHARE = 0.2  # of what has grown: what makes up so much of it may be the cause


def ask(evidence: Evidence) -> Answer:
    """A line whose calls leave much of what is kept, and come to as much that is new as before."""
    if not evidence.is_material(evidence.grown) or _collections_hold(evidence):
        return None
    before = by_key(functions_together(evidence.first_half.values()))
    for row in functions_together(evidence.operations):
        story = story_of(row, before.get(row.key))
        if story is not None and row.kept_bytes / evidence.covered >= _SHARE * evidence.grown:
            return Accused(story, row.site, row.name, row.signatures, evidence.grown, 0.9)
    return None


def _collections_hold(evidence: Evidence) -> bool:
    """Whether a collection that climbs often holds as much."""
    often = (one for one in evidence.collections if one.climbs * 4 >= evidence.looks)
    return any(evidence.bytes_of(one) >= _SHARE * evidence.grown for one in often)
