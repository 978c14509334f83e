"""A recording as values: what a process was, how its memory went, what was found in it, and its last report."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..memory.process import Memory
from ..model import Finding
from ..reports import Moment, Report
from ..units import count_of
from .recording_file import Frame, others_of, read
from .report_from import report_from

SAMPLE, EVENT, REPORT, START, END = "sample", "event", "report", "start", "end"
_LATE_SECONDS = 60.0  # that a child may begin to record after the last that is known of its parent
_MOST_MOMENTS = 2000  # of one run, kept for a plot


class Event(NamedTuple):
    """Something of note, and when."""

    seconds: float  # Unix time
    what: str  # start, finding, over, level, fork, said, end
    text: str


class Found(NamedTuple):
    """A finding of a run, as it was known last."""

    finding: Finding
    first: float  # seconds since the watch began
    is_over: bool


class Run(NamedTuple):
    """What one watch has recorded."""

    pid: int
    program: str
    began: float  # Unix time
    seconds: float  # until the last that is known
    ended: str  # how; empty where the end is missing
    moments: Tuple[Moment, ...]
    events: Tuple[Event, ...]
    found: Tuple[Found, ...]
    report: Optional[Report]

    @property
    def title(self) -> str:
        """Whose recording it is, and until when."""
        until = time.strftime("%H:%M:%S (%d %b)", time.localtime(self.began + self.seconds))
        ended = self.ended or "and no end is recorded: it was killed, or still runs"
        return "recorded of %s, process %d, until %s, %s" % (self.program or "a program", self.pid, until, ended)


class Recording(NamedTuple):
    """The runs in a file, the earliest first, and what in it can't be read."""

    path: str
    runs: Tuple[Run, ...]
    lost: int  # bytes in the midst of it
    rest: int  # bytes at its end

    @property
    def last(self) -> Run:
        """The last run."""
        return self.runs[-1]

    @property
    def notes(self) -> List[str]:
        """What one should know of the file, in sentences."""
        lines = []
        if len(self.runs) > 1:
            lines.append("%d runs are recorded in %s; this is the last." % (len(self.runs), self.path))
        if self.lost:
            lines.append("%s bytes in the midst of it can't be read, and are left out." % count_of(self.lost))
        if self.rest:
            lines.append("Its last %s bytes are no whole frame, and are left out." % count_of(self.rest))
        return lines


def load(path: str) -> Recording:
    """Read a recording; Unavailable says why there is none."""
    frames = read(path)
    runs = [run_of(part) for part in _parts(frames.frames)]
    return Recording(path, tuple(runs), frames.lost, frames.rest)


def with_children(path: str) -> Tuple[Recording, List[Recording]]:
    """A recording, and those of the children of its last run."""
    recording = load(path)
    run = recording.last
    return recording, others(path, run.began, run.began + run.seconds + _LATE_SECONDS)


def report_of(run: Run) -> Report:
    """Its last report, with memory as it was at the last sample, and the history of the whole run."""
    report = run.report or Report(run.title, run.began, (), Memory(None, None, None, 0))
    memory = report.memory
    if run.moments and run.began + run.moments[-1].at > report.seconds:
        last = run.moments[-1]
        memory = memory._replace(resident_bytes=last.resident_bytes, in_use_bytes=last.in_use_bytes)
    return dataclasses.replace(
        report, title=run.title, seconds=run.began + run.seconds, memory=memory, history=run.moments
    )


def others(path: str, since: float, until: float) -> List[Recording]:
    """The recordings beside one that were begun in that time: of forked children, and of others with the same name."""
    found = []
    for other in others_of(path):
        try:
            one = load(other)
        except Exception:  # one that was killed while it began must not hide the rest
            continue
        found += [one] if one.runs and since <= one.last.began <= until else []
    return found


def _parts(frames: Sequence[Frame]) -> List[List[Frame]]:
    parts: List[List[Frame]] = []
    for frame in frames:
        if not parts or (frame.get("k") == START and not frame.get("goes_on")):
            parts.append([])
        parts[-1].append(frame)
    return parts


class Reader:
    """Takes the frames of a run, one after the other, and says what is known so far."""

    def __init__(self) -> None:
        self._start: Frame = {}
        self._moments: List[Moment] = []
        self._events: List[Event] = []
        self._found: Dict[Tuple[str, Any], Found] = {}
        self._alive: Dict[str, int] = {}
        self._each = 1
        self._left = 1
        self._latest: Optional[Moment] = None
        self._report: Optional[Report] = None
        self._at = 0.0
        self._ended = ""

    def take(self, frame: Frame) -> None:
        """One more; what can't be understood is left out, as it may come from a newer one."""
        try:
            self._at = max(self._at, float(frame.get("at", 0.0)))
            take = getattr(self, "_take_%s" % frame.get("k"), None)
            if take is not None:
                take(frame)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):
            return

    def _take_start(self, frame: Frame) -> None:
        self._start = self._start or frame

    def _take_sample(self, frame: Frame) -> None:
        for kind, number in frame.get("alive", {}).items():
            self._alive[str(kind)] = int(number)
        resident, in_use, kept, blocks, variables = (*frame["memory"], 0, 0)[:5]
        at = float(frame["at"]) - float(self._start.get("at", self._at))
        alive = {kind: one for kind, one in self._alive.items() if one}
        self._latest = Moment(at, resident, in_use, alive, kept, blocks, variables)
        self._left -= 1
        if self._left:
            return
        self._moments.append(self._latest)
        if len(self._moments) >= _MOST_MOMENTS:
            del self._moments[1::2]
            self._each *= 2
        self._left = self._each

    def _take_event(self, frame: Frame) -> None:
        self._events.append(Event(float(frame["at"]), str(frame["what"]), str(frame["text"])))

    def _take_report(self, frame: Frame) -> None:
        self._report = report_from(frame["report"])
        now = {one.story: one for one in self._report.findings}
        since = self._at - float(self._start.get("at", self._at))
        for story, old in list(self._found.items()):
            self._found[story] = old._replace(is_over=story not in now)
        for story, finding in now.items():
            first = self._found[story].first if story in self._found else since
            self._found[story] = Found(finding, first, False)

    def _take_end(self, frame: Frame) -> None:
        self._ended = str(frame["how"])
        self._events.append(Event(float(frame["at"]), END, self._ended))

    def run(self) -> Run:
        """All that is known."""
        start = self._start
        began = float(start.get("at", self._at))
        last = [self._latest] if self._latest is not None and self._latest not in self._moments[-1:] else []
        return Run(
            int(start.get("pid", 0)), str(start.get("program", "")), began, self._at - began, self._ended,
            (*self._moments, *last), tuple(self._events), tuple(self._found.values()), self._report,
        )  # fmt: skip


def run_of(frames: Sequence[Frame]) -> Run:
    """One run, of its frames."""
    reader = Reader()
    for frame in frames:
        reader.take(frame)
    return reader.run()
