"""The collection that keeps things which are made anew."""

from __future__ import annotations

from typing import Optional

from ..holders.bounds import unbounded
from ..holders.filling_line import line_for
from ..holders.names import holder_at
from ..ledger.site import is_framework
from ..model import Site
from . import census
from .evidence import Holding


class KeepingCollection:
    """Finds the collection that keeps things which are made anew: two looks at all that has a length."""

    _LOOKS = 8

    def __init__(self, known: Optional[Holding] = None) -> None:
        """`known`: the collection, where it was found already."""
        self._before: Optional[census.Census] = None
        self._left = 0
        self._tensor: Optional[type] = None
        self.site: Optional[Site] = None
        self.holder = ""
        self.is_done = known is not None
        if known is not None:
            self.site, self.holder = known.line, known.path

    def look(self) -> None:
        """Take the first look, or wait for the second."""
        if self.is_done:
            return
        if self._before is None:
            self._before, self._left = census.take(self._tensor)._replace(met=()), self._LOOKS
            return
        self._left -= 1
        if self._left > 0:
            return
        before, self._before, self.is_done = self._before, None, True
        for one in census.grown(before, census.take(self._tensor), 2):
            holder = unbounded(holder_at(one.way))
            if holder is None or is_framework(holder.module):
                continue
            site = line_for(holder)
            if site is not None:
                self.site, self.holder = site, holder.path
                return
