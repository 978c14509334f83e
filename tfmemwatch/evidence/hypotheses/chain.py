"""Tensors in no collection: a chain of objects, each of which has the one before it."""

from __future__ import annotations

from ...model import UNKNOWN
from ..answers import Accused, Answer
from ..evidence import Evidence
from ..tensors import more_tensors, newest


def ask(evidence: Evidence) -> Answer:
    """Tensors grow in number, no collection of a name holds them, and a way leads to one."""
    count = more_tensors(evidence)
    if not count or any(evidence.ask.collections_of_newest(newest(evidence))):
        return None
    chain = evidence.ask.chain_of_newest(newest(evidence))
    if chain is None or not chain.path or " its cache" in chain.path:  # a cache is a collection, and known
        return None
    site = chain.line or evidence.heaviest[0]
    if site == UNKNOWN:
        return None
    return Accused("live_tensors", site, chain.path.rpartition(" → ")[0], count, evidence.grown, 0.7, chain.path,
                   is_of_tensors=True)  # fmt: skip
