"""What findings have kept, as memory in use tells it: a thing keeps more than what is counted of it."""

from __future__ import annotations

from typing import List, Sequence

from ..growth.gained import Gained
from .judge import Draft

_AROUND_A_VARIABLE = 50_000  # bytes beyond its value, which is known: its handle, and the kernel of a new name
_TIMES, _AROUND = 16, 1_000_000  # a trace keeps seven times what it is as it is made, a small model thousands of times
_LEAST_BYTES = 1000  # of a thing of which no bytes are counted


class MeasuredBytes:
    """What memory in use has gained since each finding began; several share it, as what is counted of them."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """What was read before can't be compared with what comes."""
        self._gained = Gained()
        self._now = 0.0

    def look(self, now: float, held: float) -> None:
        """Take the bytes in use at one look, with nothing of ours among them."""
        self._now = now
        self._gained.look(now, held)

    def of(self, drafts: Sequence[Draft], others: int) -> List[Draft]:
        """These findings with what they have kept; so many bytes are known to be others'."""
        own = [max(draft.finding.bytes, _LEAST_BYTES * draft.finding.grown, 1) for draft in drafts]
        return [self._measured(draft, others, counted / sum(own)) for draft, counted in zip(drafts, own)]

    def _measured(self, draft: Draft, others: int, share: float) -> Draft:
        finding = draft.finding
        gained = self._gained.since(finding.since, self._now)
        if gained is None:
            return draft
        measured = min(share * (gained - others), _most_of(draft))
        return draft._replace(finding=finding._replace(bytes=max(finding.bytes, int(measured))))


def _most_of(draft: Draft) -> float:
    """What such things can have kept: where more has come, something else grows as well."""
    finding = draft.finding
    if {track.key.kind for track in draft.tracks} <= {"variable", "name"}:
        return finding.bytes + _AROUND_A_VARIABLE * finding.grown
    return _TIMES * finding.bytes + _AROUND * finding.grown
