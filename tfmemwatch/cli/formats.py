"""A report, live or recorded, in the form that was asked for."""

from __future__ import annotations

import json
from typing import Optional, Sequence

from ..outputs.formats import written
from ..outputs.recording import Recording, report_of
from ..outputs.recording_text import of_children, render_recording
from ..outputs.text import render
from ..reports import Report, plain

TEXT, JSON, HTML, MARKDOWN = "text", "json", "html", "markdown"


class Shown:
    """What is known of a process: its report, and its recording where it comes from one."""

    def __init__(
        self, report: Optional[Report] = None, recording: Optional[Recording] = None, children: Sequence[Recording] = ()
    ) -> None:
        self.report = report if recording is None else report_of(recording.last)
        self.recording = recording
        self.children = children

    @property
    def leaks(self) -> bool:
        """Whether a finding is sure, and not over: in the process, or in a child of it."""
        runs = [one.last for one in ([self.recording] if self.recording is not None else []) + list(self.children)]
        recorded = [found.finding for run in runs for found in run.found if not found.is_over]
        live = self.report.findings if self.report is not None else ()
        return any(finding.is_sure for finding in [*recorded, *live])

    def as_(self, form: str) -> str:
        """All of it, in one of the forms."""
        assert self.report is not None
        if form == JSON:
            return self._json(self.report)
        if form != TEXT:
            return written(self.report, form)
        text = render(self.report) if self.recording is None else render_recording(self.recording)
        return text + of_children(self.children)

    def _json(self, report: Report) -> str:
        told = report.as_dict()
        if self.recording is not None:
            run = self.recording.last
            told["recording"] = plain({
                "path": self.recording.path, "pid": run.pid, "program": run.program, "began": run.began,
                "seconds": run.seconds, "ended": run.ended, "events": run.events, "notes": self.recording.notes,
                "found": run.found,
            })  # fmt: skip
            told["children"] = [{"pid": one.last.pid, "found": plain(one.last.found)} for one in self.children]
        return json.dumps(told, indent=2) + "\n"
