"""Elements are taken from an iterator, and some dataset remembers them."""

from __future__ import annotations

from typing import Iterable, Optional

from ...probes.datasets import Remembering
from ...units import count_of
from ..answers import SILENT, TOLD, Accused, Answer, Filling
from ..evidence import Evidence

NAME = "dataset"


def ask(evidence: Evidence) -> Answer:
    """All elements of a dataset that never ends: accused. At most so many: they may still be filling their places."""
    takes = [row for row in evidence.operations if "Iterator" in row.name]
    # What remembers all elements of an endless dataset grows by doubling, in jumps.
    if not takes or not (evidence.is_steady or evidence.by_clock):
        return None
    remembering = evidence.ask.remembering()
    endless = next((one for one in remembering if one.most_elements is None), None)
    if endless is not None and not evidence.is_of_python:  # elements are no objects of Python's
        story = "cache_dataset" if endless.method == "cache" else "hoarding_dataset"
        first_time = TOLD if evidence.is_much else SILENT
        return Accused(story, endless.site, endless.method, evidence.looks, evidence.grown, 0.8, first_time=first_time,
                       known_as="caches")  # fmt: skip
    filling = _filling(evidence, remembering, max(row.calls for row in takes))
    if filling is None:
        return None
    return Filling("elements that Dataset.%s() keeps, %s at most (%s)" % (
        filling.method, count_of(filling.most_elements or 0), filling.site.short))  # fmt: skip


def _filling(evidence: Evidence, remembering: Iterable[Remembering], calls: int) -> Optional[Remembering]:
    """The one that takes longest to be full, if it is not: each call of an iterator takes an element at least."""
    since = evidence.filled_from.get(NAME, evidence.first)
    a_look = calls / evidence.covered / evidence.window
    passed = a_look * evidence.span * _share_of_time(evidence, since.now)
    each = evidence.grown / max(1.0, a_look * evidence.span)
    filling = [one for one in remembering if one.most_elements is not None and passed < one.most_elements]
    most = sum((one.most_elements or 0) * min(each, one.element_bytes or each) for one in filling)
    if not filling or evidence.last.held - since.held > most:
        return None
    return max(filling, key=lambda one: one.most_elements or 0)


def _share_of_time(evidence: Evidence, since: float) -> float:
    """The time since then, in times of this inquiry's."""
    return (evidence.last.now - since) / max(1e-9, evidence.last.now - evidence.first.now)
