"""What is to be called at exit stands in a table of the interpreter's own, which no search from names sees."""

from __future__ import annotations

from ..answers import Accused, Answer
from ..evidence import Evidence


def ask(evidence: Evidence) -> Answer:
    """There is one more at every other look, and a line that registers them."""
    more = evidence.more_exits
    lines = evidence.ask.registering_exits() if more >= max(2, evidence.span // 2) else []
    if not lines:
        return None
    is_of_tensors = evidence.ask.tensors() - evidence.first.tensors >= more // 2
    story = "live_tensors" if is_of_tensors else "python_objects"
    return Accused(story, lines[0], "the table of atexit functions", more, evidence.grown, 0.8, "atexit")
