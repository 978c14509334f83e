"""Which findings are open, and what is still to be said: once, again when doubled or become sure, and when over."""

from __future__ import annotations

from typing import Dict, FrozenSet, List, Optional, Sequence, Tuple

from ..model import Finding, Key, Site
from .judge import Draft

_MOST_CLOSED = 200


class _Case:
    """One cause, from the first word to the last."""

    def __init__(self, finding: Finding, keys: FrozenSet[Key], is_heard: bool) -> None:
        self.finding = finding
        self.keys = keys
        self.is_heard = is_heard  # whether its first word was said, and its last one is to be
        self._told = finding

    def is_news(self, finding: Finding) -> bool:
        """Whether it has become sure or has doubled since it was told; what has no count is judged by its bytes."""
        told = self._told
        by_count = bool(finding.grown and told.grown)
        before, now = (told.grown, finding.grown) if by_count else (told.bytes, finding.bytes)
        has_doubled = now >= 2 * before > 0
        if not (has_doubled or (finding.is_sure and not told.is_sure)):
            return False
        self._told, self.is_heard = finding, True
        return True


class OpenFindings:
    """Matches what is found now with what was told before; one cause stays one case."""

    def __init__(self) -> None:
        self._open: List[_Case] = []
        self._times: Dict[Tuple[str, Site], int] = {}  # that a story has begun
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
                case = _Case(draft.finding, keys, self._is_worth_telling(draft.finding))
                if case.is_heard:
                    news.append(draft.finding)
            elif case.is_news(draft.finding):
                news.append(draft.finding)
            case.finding, case.keys = draft.finding, keys | case.keys
            if case not in still:
                still.append(case)
        for case in self._open:
            if case not in still:
                over = case.finding._replace(state="over")
                if case.is_heard:
                    news.append(over)
                self.closed.append(over)
        del self.closed[:-_MOST_CLOSED]
        self._open = still
        return news

    def _is_worth_telling(self, finding: Finding) -> bool:
        """Of what comes and goes: the first time, the second, the fourth, …"""
        if len(self._times) >= _MOST_CLOSED:
            self._times.clear()
        times = self._times[finding.story] = self._times.get(finding.story, 0) + 1
        return times & (times - 1) == 0

    def _case_of(self, finding: Finding, keys: FrozenSet[Key]) -> Optional[_Case]:
        for case in self._open:
            if case.keys & keys or (not keys and case.finding.story == finding.story):
                return case
        return None
