"""Which findings are open, and what is still to be said: once, again when doubled or become sure, and when over."""

from __future__ import annotations

from typing import FrozenSet, List, Optional, Sequence

from ..model import Finding, Key
from .judge import Draft

_MOST_CLOSED = 200


class _Case:
    def __init__(self, finding: Finding, keys: FrozenSet[Key]) -> None:
        self.finding = finding
        self.keys = keys
        self.told = max(1, finding.grown)


class OpenFindings:
    """Matches what is found now with what was told before; one cause stays one case."""

    def __init__(self) -> None:
        self._open: List[_Case] = []
        self.closed: List[Finding] = []

    @property
    def findings(self) -> List[Finding]:
        """What leaks now, the surest and largest first."""
        return sorted((case.finding for case in self._open), key=lambda one: (-one.confidence, -one.bytes))

    @property
    def keys(self) -> FrozenSet[Key]:
        """The counts behind what leaks now."""
        return frozenset().union(*(case.keys for case in self._open))

    def update(self, drafts: Sequence[Draft]) -> List[Finding]:
        """Take what is found now; what comes back is to be told."""
        news: List[Finding] = []
        still: List[_Case] = []
        for draft in drafts:
            keys = frozenset(track.key for track in draft.tracks)
            case = self._case_of(draft.finding, keys)
            if case is None:
                case = _Case(draft.finding, keys)
                news.append(draft.finding)
            elif draft.finding.grown >= 2 * case.told or (draft.finding.is_sure and not case.finding.is_sure):
                case.told = draft.finding.grown
                news.append(draft.finding)
            case.finding, case.keys = draft.finding, keys | case.keys
            if case not in still:
                still.append(case)
        for case in self._open:
            if case not in still:
                over = case.finding._replace(state="over")
                news.append(over)
                self.closed.append(over)
        del self.closed[:-_MOST_CLOSED]
        self._open = still
        return news

    def _case_of(self, finding: Finding, keys: FrozenSet[Key]) -> Optional[_Case]:
        for case in self._open:
            if case.keys & keys or (not keys and case.finding.story == finding.story):
                return case
        return None
