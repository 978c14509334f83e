"""What the program says should be dead: told when it dies, or why it does not."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any, Callable, List

from .holders import CALLERS_SECONDS, SECONDS, path_to
from .model import LEAK, Finding, Site

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
        thing = self._ref()
        return path_to([thing], seconds) if thing is not None else ""

    def __repr__(self) -> str:
        return "<%s: %s>" % (self.what, "gone" if self.is_dead else "alive")


class Expectations:
    """All that is expected to be dead, and what of it is still to be told."""

    def __init__(self, collect: bool) -> None:
        self._collect = collect
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything, with a new lock: for the child of a fork."""
        self._lock = threading.Lock()
        self._open: List[Expectation] = []

    def add(self, thing: Any, what: str, site: Site) -> Expectation:
        """Expect one more thing to be dead."""
        one = Expectation(thing, what, site)
        with self._lock:
            self._open.append(one)
            del self._open[:-_MOST]
        return one

    def look(self, gone: Callable[[Expectation], None], seconds: float = SECONDS) -> List[Finding]:
        """Tell of those that have died; what comes back are those that have not, in good time."""
        with self._lock:
            waiting = list(self._open)
        late = [one for one in waiting if not one.is_dead and not one.is_told and one.looks + 1 >= _PATIENCE]
        if late and self._collect:
            gc.collect()
        findings = []
        for one in waiting:
            one.looks += 1
            if one.is_dead:
                gone(one)
                with self._lock:
                    self._open = [other for other in self._open if other is not one]
            elif one in late:
                one.is_told = True
                one.holder = one.why(seconds)
                findings.append(_finding(one))
        return findings


def _finding(one: Expectation) -> Finding:
    return Finding(
        kind="still_alive", site=one.site, since=0.0, grown=0, rate=0.0, per="hour", bytes=0, verdict=LEAK,
        cause="the %s that should be gone (%s) is still alive" % (one.kind, one.what),
        cure="Drop the reference that keeps it." if one.holder else "gc.get_referrers() may show what keeps it.",
        confidence=1.0, holder=one.holder,
    )  # fmt: skip
