"""Findings whose culprit is the collection that keeps things, not the line that makes them."""

from __future__ import annotations

from typing import Callable, Optional

from ..evidence.evidence import Holding
from ..evidence.keeper import KeepingCollection
from ..judge.judge import Draft

_KINDS = ("function_library", "tape")


class WhatKeeps:
    """Looks for that collection once such a finding is there; until it is found out the finding waits."""

    def __init__(self, may_look: bool, known: Callable[[], Optional[Holding]]) -> None:
        """`known` is the collection, where somebody knows it already."""
        self._may_look = may_look
        self._known = known
        self._keeping: Optional[KeepingCollection] = None

    def look(self) -> bool:
        """Take one look; True when it has been found out."""
        if self._keeping is None or self._keeping.is_done:
            return False
        self._keeping.look()
        return self._keeping.is_done

    def waits(self, draft: Draft) -> bool:
        """Whether it is still to be found out what keeps these things."""
        if draft.finding.kind not in _KINDS or not self._may_look:
            return False
        if self._keeping is None:
            self._keeping = KeepingCollection(self._known())
        return not self._keeping.is_done

    def told(self, draft: Draft) -> Draft:
        """The finding, at the line that keeps."""
        keeping = self._keeping
        if keeping is None or keeping.site is None or draft.finding.kind not in _KINDS:
            return draft
        return draft._replace(finding=draft.finding._replace(site=keeping.site, holder=keeping.holder))
