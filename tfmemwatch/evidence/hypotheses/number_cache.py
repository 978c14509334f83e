"""Ever new Python numbers are made into tensors: TensorFlow keeps a copy of each."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence
from ..operations import by_key, functions_together, goes_on

_NUMBER_BYTES = 650  # of one cached scalar, as measured
_TIMES_LESS = 8  # than other growth must be, since they are counted and each is known to be kept


def ask(evidence: Evidence) -> Answer:
    """A line that comes to as many new numbers in the second half of a window as in the first."""
    before = by_key(functions_together(evidence.first_half.values()))
    for row in evidence.operations:
        size = _NUMBER_BYTES * row.numbers / evidence.covered
        half = before.get(row.key)
        if half is not None and goes_on(half.numbers, row.numbers) and evidence.is_material(_TIMES_LESS * size):
            return Accused("scalar", row.site, row.name, row.numbers, max(size, evidence.grown), 0.9, own_bytes=size)
    return None
