"""Ever new shapes: oneDNN keeps a primitive for each, but only so many of them."""

from __future__ import annotations

from ...units import count_of, size_of
from ..answers import Answer, Filling
from ..evidence import Evidence
from ..operations import goes_on

NAME = "shape_cache"
_SHAPES_KEPT = 2 * 1024  # at most: TensorFlow keeps 1,024 of oneDNN's primitives of each operation, and oneDNN its own


def ask(evidence: Evidence) -> Answer:
    """The heaviest operation comes to ever new shapes, and there is no more yet than so many primitives take."""
    if not evidence.is_steady or evidence.growing_result(0.5) is not None:
        return None
    for row in evidence.operations[:1]:
        half = evidence.first_half.get(row.key)
        if half is None or row.is_compiled or not goes_on(half.shapes, row.shapes):
            continue
        each = evidence.grown / (row.shapes * evidence.span / evidence.window)
        since = evidence.filled_from.get(NAME, evidence.first)
        if evidence.last.held - since.held <= _SHAPES_KEPT * each:
            return Filling("%s for each new shape that %s comes to; oneDNN keeps some %s shapes at most" % (
                size_of(each), row.site.short, count_of(_SHAPES_KEPT)))  # fmt: skip
    return None
