"""Sessions: open now, closed, or collected without a close; and what they are asked to fetch."""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, Hashable, Optional

from .. import guard, tfapi
from ..model import Site
from .scene import Probe, Scene

_MOST_FETCHES = 4096
_EXECUTOR_BYTES = 44000  # what one distinct list of fetches leaves in a session, as measured


class Sessions(Probe):
    """Sees `BaseSession`, which MonitoredSession and InteractiveSession are made of."""

    name = "sessions"
    watches = "sessions open, closed and collected unclosed, by line; fetch lists that are ever new"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._fetched: Dict[int, Dict[Hashable, Site]] = {}  # by id(session), while it is open

    def install(self) -> None:
        self.after("session", self._opened)
        self.wrap("session_close", self._close)
        self.wrap("session_run", self._run)

    def start_afresh(self) -> None:
        self._fetched = {}

    def _opened(self, result: Any, session: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self._fetched[id(session)] = {}
        self.scene.born("session", session, ends=True)

    def _close(self, wrapped: Callable[..., Any], session: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        """Also runs in `__del__`, at any allocation: nothing here may take a lock."""
        try:
            for at in self._fetched.pop(id(session), {}).values():
                self.scene.ledger.undone("fetch", at, 1, _EXECUTOR_BYTES)
            self.scene.ledger.ended(session, "session_dropped" if _in_finalizer() else "session_closed")
        except Exception:
            guard.failed("sessions: close")
        return wrapped(*args, **kwargs)

    def _run(self, wrapped: Callable[..., Any], session: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        fetched = self._fetched.get(id(session))
        if fetched is not None:
            try:
                key = _fetch_key(args[0] if args else kwargs.get("fetches"))
                if key not in fetched:
                    self._new_fetch(fetched, key)
            except Exception:
                guard.failed("sessions: run")
        return wrapped(*args, **kwargs)

    def _new_fetch(self, fetched: Dict[Hashable, Site], key: Optional[Hashable]) -> None:
        """Each new list of fetches leaves a set of executors in the session, for as long as it is open."""
        if key is None or len(fetched) >= _MOST_FETCHES or not self.scene.rank:
            return
        at, stack = self.scene.where()
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


def _in_finalizer() -> bool:
    frame = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
