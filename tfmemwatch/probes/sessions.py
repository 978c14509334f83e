"""Sessions: open now, closed, or collected without a close; and what they are asked to fetch."""

from __future__ import annotations

import itertools
import sys
from time import thread_time
from typing import Any, Callable, Dict, Hashable, Optional

from ..ledger.counts import Place
from ..safety import guard
from ..safety.tracebacks import without_us
from ..seams.patch import Patch
from .scene import TIMED_EACH, Probe, Scene

_getframe = sys._getframe
_MOST_FETCHES = 4096
_EXECUTOR_BYTES = 44000  # what one distinct list of fetches leaves in a session, as measured


class Sessions(Probe):
    """Sees `BaseSession`, which MonitoredSession and InteractiveSession are made of."""

    name = "sessions"
    watches = "sessions open, closed and collected unclosed, by line; new lists of fetches"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._fetched = scene.runs.fetched

    def install(self) -> None:
        self.after_method("session", self._opened)
        self.wrap("session_close", self._close)
        self.scene.runs.new_fetch = self._new_fetch
        self.scene.runs.share(self)

    def start_afresh(self) -> None:
        self._fetched.clear()
        self.scene.runs.look_at_each()

    def _opened(self, session: Any) -> None:
        scene = self.scene
        runs = scene.runs
        runs.fetched[id(session)] = {}
        runs.known_in_a_row = runs.passed = 0  # look_at_each(), without its call
        scene.born("session", session, ends=True)

    def _close(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        """Also runs in `__del__`, at any allocation: nothing here may take a lock."""
        known, spent, turns = self._fetched, guard.spent, itertools.count(1)
        spent.setdefault("sessions: close", 0.0)

        def close(*args: Any, **kwargs: Any) -> Any:
            if patch.is_live and args:
                try:
                    fetched = known.pop(id(args[0]), None)
                    if fetched is None:
                        pass  # `__del__` closes it again, or another thread was first
                    elif next(turns) % TIMED_EACH:
                        self._closed(args[0], fetched, _getframe(1).f_code.co_name)
                    else:
                        began = thread_time()
                        self._closed(args[0], fetched, _getframe(1).f_code.co_name)
                        spent["sessions: close"] += TIMED_EACH * (thread_time() - began)
                except Exception:
                    guard.failed("sessions: close")
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise

        return close

    def _closed(self, session: Any, fetched: Dict[Hashable, Place], caller: str) -> None:
        ledger = self.scene.ledger
        for at in fetched.values():
            ledger.undone("fetch", at, 1, _EXECUTOR_BYTES)
        if caller == "close":  # of a subclass
            caller = _getframe(3).f_code.co_name
        ledger.ended(session, "session_dropped" if caller == "__del__" else "session_closed")

    def _new_fetch(self, fetched: Dict[Hashable, Place], fetches: Any) -> None:
        """Each new list of fetches leaves a set of executors in the session, for as long as it is open."""
        key = _fetch_key(fetches)
        if key is None or key in fetched or len(fetched) >= _MOST_FETCHES or not self.scene.rank:
            return
        at, stack = self.scene.where("fetch")
        fetched[key] = at
        self.scene.ledger.happened("fetch", at, size=_EXECUTOR_BYTES, stack=stack)


def _fetch_key(fetches: Any) -> Optional[Hashable]:
    """What makes two fetch lists the same; None where that can't be told cheaply."""
    if not isinstance(fetches, (list, tuple)):
        return None if isinstance(fetches, dict) else _one(fetches)
    if any(isinstance(fetch, (list, tuple, dict)) for fetch in fetches):
        return None
    return tuple(map(_one, fetches))


def _one(fetch: Any) -> Hashable:
    return fetch if isinstance(fetch, str) else id(fetch)
