"""TensorFlow's caches were emptied twice: one that gives back more the second time grows."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..schedule import LOOKS

_SHARE = 0.3  # of what has grown


def ask(evidence: Evidence) -> Answer:
    """A cache gave back its working set and a little after a quarter of the looks; now all the rest."""
    for name, given in evidence.ask.emptied_caches().items():
        more = given - evidence.working_sets.get(name, 0)
        share = more * evidence.span / (evidence.looks - evidence.emptied_at - LOOKS // 4)
        if evidence.is_material(share) and share >= _SHARE * evidence.grown:
            return Accused("asked", evidence.heaviest[0], name, 0, share, 0.8)
    return None
