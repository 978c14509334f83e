"""A variable of unknown shape is assigned a larger value each time."""

from __future__ import annotations

from ...units import size_of
from ..answers import SILENT, Accused, Answer, Filling
from ..evidence import Evidence


def ask(evidence: Evidence) -> Answer:
    """What is assigned at a line is known, and a variable keeps what it was assigned last.

    Memory in use may rise by more, and in jumps: old values and new ones need room at the same time.
    """
    for row in evidence.operations:
        larger = evidence.larger(row) if row.is_assignment else 0.0
        if larger > 0 and evidence.is_material(larger):
            if evidence.ask.is_cut(row.site) and not evidence.is_urgent:
                return Filling("what is assigned at %s is made longer, and cut" % row.site.short)
            # A window that fills has met its end by the next time.
            return Accused("growing_variable", row.site, size_of(row.latest_bytes), 0, larger, 0.8, first_time=SILENT,
                           known_as="growing variable", is_in_jumps=True)  # fmt: skip
    return None
