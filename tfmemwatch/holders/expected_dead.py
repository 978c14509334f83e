"""What the program says should be dead: told when it dies, or why it does not."""

from __future__ import annotations

import time
import weakref
from collections import deque
from contextlib import suppress
from typing import Any, Deque, List, NamedTuple

from ..heap import collector
from ..heap.instances import ids_alive
from ..model import LEAK, Finding, Site
from .search import CALLERS_SECONDS, SECONDS
from .words import path_to

_MOST = 200  # expectations that are open
_PATIENCE = 2  # looks that a thing is given to die in


class Expectation:
    """One thing that should be gone; holds a weak reference and no more."""

    def __init__(self, thing: Any, what: str, site: Site) -> None:
        self._ref = weakref.ref(thing)
        self.what = what
        self.kind = type(thing).__name__
        self.site = site
        self.since = time.monotonic()
        self.looks = 0
        self.holder = ""
        self.is_told = False

    @property
    def is_dead(self) -> bool:
        """Whether it has gone."""
        return self._ref() is None

    def why(self, seconds: float = CALLERS_SECONDS) -> str:
        """Who holds it; nothing where it has gone, or no way to it is found in this time."""
        return path_to(ids_alive([self._ref]), seconds)

    def __repr__(self) -> str:
        return "<%s: %s>" % (self.what, "gone" if self.is_dead else "alive")


class News(NamedTuple):
    """What one look has found, to be told."""

    gone: List[Expectation]
    late: List[Finding]


class Expectations:
    """All that is expected to be dead, and what of it is still to be told."""

    def __init__(self, collect: bool) -> None:
        self._collect = collect
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything: for the child of a fork."""
        self._open: Deque[Expectation] = deque(maxlen=_MOST)  # what is done to it is one step of C: it needs no lock

    def add(self, thing: Any, what: str, site: Site) -> Expectation:
        """Expect one more thing to be dead."""
        one = Expectation(thing, what, site)
        self._open.append(one)
        return one

    def look(self, seconds: float = SECONDS) -> News:
        """Which of them have died, and which have not, in good time; each is said once."""
        waiting = list(self._open)
        late = [one for one in waiting if not one.is_dead and not one.is_told and one.looks + 1 >= _PATIENCE]
        if late and self._collect:
            collector.collect()
        news = News([], [])
        for one in waiting:
            one.looks += 1
            if one.is_dead:
                with suppress(ValueError):  # another look was first
                    self._open.remove(one)
                    news.gone.append(one)
            elif one in late:
                one.is_told = True
                one.holder = one.why(seconds)
                news.late.append(_finding(one))
        return news


def _finding(one: Expectation) -> Finding:
    return Finding(
        kind="still_alive", site=one.site, since=0.0, grown=0, rate=0.0, per="hour", bytes=0, verdict=LEAK,
        cause="the %s that should be gone (%s) is still alive" % (one.kind, one.what),
        cure="Drop the reference that keeps it." if one.holder else "gc.get_referrers() may show what keeps it.",
        confidence=1.0, holder=one.holder,
    )  # fmt: skip
