"""What inquiries have found and what became of it: each is over by the end of its own growth, and of nothing else's."""

from __future__ import annotations

from typing import List, Optional

from ..model import Finding
from .still_growing import StillGrowing


class _Found:
    """One finding, and how it is known that it goes on."""

    def __init__(self, finding: Finding, still: Optional[StillGrowing], collection: int) -> None:
        self.told = finding
        self.still = still
        self.collection = collection  # its id; 0 where there is none

    @property
    def is_measured(self) -> bool:
        """Whether its own growth can be looked at."""
        return self.still is not None and self.still.is_known

    @property
    def finding(self) -> Finding:
        """As it was told, with what has come since."""
        told, still = self.told, self.still
        more = still.more if still is not None else 0.0
        if more <= 0 or still is None:
            return told
        if still.is_of_bytes or not told.grown:
            return told._replace(bytes=int(told.bytes + more)) if still.is_of_bytes else told
        return told._replace(grown=told.grown + int(more), bytes=int(told.bytes * (1 + more / told.grown)))


class FoundByEvidence:
    """What is open, in the order in which it was found."""

    def __init__(self) -> None:
        self._open: List[_Found] = []

    @property
    def findings(self) -> List[Finding]:
        """All of them, as they are now."""
        return [one.finding for one in self._open]

    @property
    def collections(self) -> List[int]:
        """The ids of collections that are known to grow."""
        return [one.collection for one in self._open if one.collection and one.is_measured]

    @property
    def has_unmeasured(self) -> bool:
        """Whether something is open of which only memory as a whole says whether it goes on."""
        return any(not one.is_measured for one in self._open)

    def knows(self, finding: Finding) -> bool:
        """Whether it is open."""
        return any(one.told.story == finding.story for one in self._open)

    def add(self, finding: Finding, still: Optional[StillGrowing], collection: int) -> None:
        """One is found, for the first time or again; it takes the place of what has no measure of its own."""
        new = _Found(finding, still, collection)
        at = next((at for at, one in enumerate(self._open) if one.told.story == finding.story), None)
        if at is not None:
            before = self._open[at].finding
            if before.grown > finding.grown:  # what was seen in one inquiry is not all
                size = max(before.bytes, finding.bytes)
                new.told = finding._replace(grown=before.grown, since=before.since, bytes=size)
            self._open[at] = new
        else:
            self._open = [one for one in self._open if one.is_measured] + [new]

    def look(self) -> bool:
        """One look: whether the growth of some has stopped; they are over."""
        before = len(self._open)
        self._open = [one for one in self._open if one.still is None or not one.still.has_stopped()]
        return len(self._open) < before

    def forget_unmeasured(self) -> bool:
        """Memory as a whole has not risen for long: whether something is over by that."""
        before = len(self._open)
        self._open = [one for one in self._open if one.is_measured]
        return len(self._open) < before
