"""What explains a finding: why it came about, who holds what has grown, who else has met it, when memory ends."""

from __future__ import annotations

import linecache
import time
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..explain import known_issues
from ..heap.instances import ids_alive
from ..holders.cures import cure_for
from ..holders.search import CALLERS_SECONDS, SECONDS, way_to
from ..holders.words import told
from ..memory.forecast import Outlook
from ..model import Finding, Site
from ..probes import tapes
from ..safety import guard
from ..seams import runtime
from ..units import bytes_pace_of, since_of
from .held_in_bounds import HELD, examples
from .sampler import is_here
from .state import State

_TRIES = 6  # for the way to what is held: the search is short, and the machine may be busy
_MOST_HOLDERS = 200


class _Way(NamedTuple):
    """To what is held: as it was found, when there was so much of it."""

    holder: str
    cure: str  # where it is about the holder
    tries: int
    grown: int


_UNKNOWN_WAY = _Way("", "", 0, 0)


class Explanations:
    """Adds to findings what is known beside their counts."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.forget()

    def forget(self) -> None:
        """For the child of a fork."""
        self._holders: Dict[Tuple[str, Site], _Way] = {}

    def explained(self, finding: Finding) -> Finding:
        """The finding, with why it came about, who holds what has grown and what to write instead."""
        try:
            for probe in self._state.probes.up:
                finding = probe.explained(finding)
            finding = self._held(finding)
            if finding.per == "hour" and finding.since:
                finding = finding._replace(began=self._state.began + finding.since)
            line = linecache.getline(finding.site.file, finding.site.line)
            text = " ".join((finding.cause, finding.why, line))
            return finding._replace(known=known_issues.said(finding.kind, text, runtime.version()))
        except Exception:
            guard.failed("explaining %s" % finding.kind)
        return finding

    def _held(self, finding: Finding) -> Finding:
        """Who holds some of the things that were made at the line; looked for a few times at most."""
        kinds = HELD.get(finding.kind)
        if kinds is None or finding.holder or not self._state.config.evidence:
            return finding
        way = self._holders.get(finding.story, _UNKNOWN_WAY)
        is_old = bool(way.holder) and finding.grown >= 2 * way.grown  # the numbers in it, as it is told again
        if is_old or (not way.holder and way.tries < _TRIES and len(self._holders) < _MOST_HOLDERS):
            found = self._way_to(finding, kinds) or way
            way = self._holders[finding.story] = found._replace(tries=way.tries + 1, grown=finding.grown)
        return finding._replace(holder=way.holder, cure=way.cure or finding.cure)

    def _way_to(self, finding: Finding, kinds: Sequence[str]) -> Optional[_Way]:
        is_own = is_here()
        living = examples(self._state.ledger, kinds, finding.site)
        if not living and finding.kind == "tape":
            living = ids_alive(tapes.from_before()[:1])
        way = way_to(living, SECONDS if is_own else CALLERS_SECONDS, finding.site)
        path = told(way) if way is not None else ""
        return _Way(path, cure_for(way, path, finding.kind), 0, 0) if way is not None and path else None

    def news(self) -> List[Finding]:
        """What the probes have to say by themselves, each once."""
        try:
            return [self.explained(finding) for finding in self._state.probes.ask(lambda probe: probe.news())]
        except Exception:
            guard.failed("news")
            return []

    # -- when memory ends

    def outlook(self) -> Optional[Outlook]:
        """When the nearest limit is reached; None while memory does not go on to grow."""
        return self._state.ahead.outlook()

    def rise(self) -> str:
        """`the process has grown by 0.8 MiB an hour since 14:02 (19 Nov)`, by a robust slope, or nothing."""
        slope = self._state.ahead.rise
        if slope is None:
            return ""
        began = time.time() - (time.monotonic() - slope.since)
        pace = bytes_pace_of(3600 * slope.most_likely, "hour")
        return "the process has grown by %s %s" % (pace, since_of(0.0, "hour", began))

    def with_outlook(self, findings: List[Finding]) -> List[Finding]:
        """Those of growing bytes say when they end the process, where that can be told."""
        outlook = self.outlook() if any(map(_grows, findings)) else None
        if outlook is None:
            return findings
        return [one._replace(outlook=str(outlook)) if _grows(one) else one for one in findings]


def _grows(finding: Finding) -> bool:
    return finding.bytes > 0 and finding.state == "leak"
