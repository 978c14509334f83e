"""While the budget has lowered the level: what grows keeps its line, and nothing is told without one."""

from __future__ import annotations

from typing import List

from ..judge.judge import Draft, Judge
from ..judge.open_findings import OpenFindings
from ..model import UNKNOWN
from .level import Level


class KeptLines:
    """Sees to it that a finding neither loses its line nor splits when the budget changes the level."""

    def __init__(self, level: Level, judge: Judge, findings: OpenFindings) -> None:
        self._level = level
        self._judge = judge
        self._open = findings
        self._changes = level.changes

    def look(self) -> None:
        """Have the lines of what grows kept; after a change, count what has no line anew."""
        if self._level.is_lowered:
            self._level.keep_lines(self._judge.kinds_that_grow())
        if self._level.changes != self._changes:
            self._changes = self._level.changes
            self._judge.forget_what_has_no_line(self._open.keys)

    def of(self, drafts: List[Draft]) -> List[Draft]:
        """Those that are to be told now: the line of another is known after some more looks."""
        if not self._level.is_lowered:
            return drafts
        known = self._open.keys
        return [one for one in drafts if one.finding.site != UNKNOWN or any(track.key in known for track in one.tracks)]
