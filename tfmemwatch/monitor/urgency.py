"""Whether a finding can wait: what becomes of it by the share of memory that has been used up. Knows no clock."""

from __future__ import annotations

from typing import Optional, Set, Tuple

from ..judge.judge import Draft
from ..memory.forecast import span_of
from ..memory.stake import Stake, Used
from ..model import FILLING, LEAK, Site

# Shares of the memory that was free when the growth began.
_WORTH_A_WORD = 0.025  # from which what may have an end is told, as that
_LATE = 0.1  # from which what grows in a straight line is told as a leak, where it would be too late to be certain
_LATE_THEN = 0.18  # share by the time that it would be certain
_TOO_LATE = 0.15  # that may not be passed before: from here on what may still be filling is told as a leak, too


class Urgency:
    """Weighs what was found soon, and what may have an end, against what is left."""

    def __init__(self, stake: Stake, certain_seconds: float) -> None:
        """`certain_seconds` is how long growth must last where there is time to wait."""
        self._stake = stake
        self._certain_seconds = certain_seconds
        self._told: Set[Tuple[str, Site]] = set()  # as leaks: they stay that

    def is_too_late(self, since: float, now: float, seconds: float) -> bool:
        """Whether so many seconds more would use up too much, at the pace since then."""
        used = self._stake.used_since(since)
        return used.share * (1 + seconds / max(1e-3, now - since)) > _TOO_LATE

    def weighed(self, draft: Draft, is_early: bool) -> Optional[Draft]:
        """As what it may be told; None where it must wait. `is_early`: it has not lasted long enough to be certain.

        What has not grown lately can wait, whatever else takes memory meanwhile.
        """
        finding = draft.finding
        may_end = finding.verdict == FILLING
        if finding.verdict not in (LEAK, FILLING):
            return None if is_early else draft
        if not is_early and not may_end:
            return draft
        used = self._stake.used_since(finding.since)
        is_late = not may_end and used.share >= _LATE and used.share_in(self._certain_seconds) >= _LATE_THEN
        if (draft.goes_on and (is_late or used.share >= _TOO_LATE)) or finding.story in self._told:
            self._told.add(finding.story)
            return draft._replace(finding=finding._replace(verdict=LEAK, more=_why(used, finding.more)))
        if not is_early:
            return draft
        return draft._replace(finding=finding._replace(verdict=FILLING)) if used.share >= _WORTH_A_WORD else None


def _why(used: Used, more: str) -> str:
    """Why it is told before it is certain."""
    if not used.limit:
        return more
    told = "told early: it has taken %.0f %% of the memory that was free, and the %s is reached in %s at this pace; " \
           "it may still end by itself" % (100 * used.share, used.limit, span_of(used.seconds))  # fmt: skip
    return "; ".join(filter(None, (told, more)))
