"""A recording as text: its last report, how memory went, and what was of note."""

from __future__ import annotations

import time
from typing import List, Sequence

from ..growth.history import plot
from ..memory.forecast import span_of
from ..units import count_of, size_of
from .recording import Recording, Run, report_of
from .text import render

_MOST_EVENTS, _MOST_WIDE = 20, 300


def render_recording(recording: Recording) -> str:
    """The last run of it."""
    run = recording.last
    return render(report_of(run)) + "\n".join([*went(run), *_events(run), *_notes(recording)]) + "\n"


def went(run: Run) -> List[str]:
    """How memory went over the whole run."""
    sizes = [moment.resident_bytes for moment in run.moments if moment.resident_bytes is not None]
    if len(sizes) < 3:
        return []
    line = "resident, over %s: %s → %s" % (span_of(run.seconds), size_of(sizes[0]), size_of(sizes[-1]))
    return ["", "  ".join(filter(None, (line, plot(sizes, 32))))]


def _events(run: Run) -> List[str]:
    if not run.events:
        return []
    shown = run.events[-_MOST_EVENTS:]
    lines = ["  %s  %-8s %s" % (_clock(one.seconds), one.what, one.text[:_MOST_WIDE]) for one in shown]
    left_out = len(run.events) - len(shown)
    more = ["  … %s before that" % count_of(left_out)] if left_out else []
    return ["", "Of note", *more, *lines]


def _notes(recording: Recording) -> List[str]:
    return ["", *recording.notes] if recording.notes else []


def _clock(seconds: float) -> str:
    return time.strftime("%d %b %H:%M:%S", time.localtime(seconds))


def of_children(recordings: Sequence[Recording]) -> str:
    """What was found in forked children, in a few lines."""
    lines: List[str] = []
    for one in recordings:
        for found in one.last.found:
            lines.append("  process %d: %s %s" % (one.last.pid, found.finding.kind, found.finding))
    return "\n".join(["", "In its children", *lines]) + "\n" if lines else ""
