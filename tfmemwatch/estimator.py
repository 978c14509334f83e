"""A hook for estimators and sessions of TensorFlow 1: `estimator.train(…, hooks=[LeakHook()])`.

TensorFlow takes only subclasses of its own SessionRunHook: the class is made when the first hook is.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Type

from .api import watch
from .errors import LeakFound, Unavailable
from .model import Finding
from .monitor.loop import Loop, checked
from .reports import Report
from .safety import guard
from .seams import places

__all__ = ["LeakHook"]

_WARMUP = 2  # runs
_classes: Dict[Type[Any], Type[Any]] = {}  # ours, by TensorFlow's


class LeakHook:
    """Judges a MonitoredSession or an estimator run by run: each `session.run` is a step.

    - `on_leak`: what follows a leak: `"warn"` (the log says it), `"stop"` the loop, or `"raise"` LeakFound.
    - `stop_at`: the share of a memory limit at which a loop that grows is ended; None: never. The session's own
      checkpoint hook saves when the loop ends.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An instance of a class that TensorFlow takes."""
        theirs = places.find("session_run_hook").value
        if issubclass(cls, theirs):
            return super().__new__(cls)
        ours = _classes.get(theirs)
        if ours is None or not issubclass(ours, cls):
            ours = _classes[theirs] = type(cls.__name__, (cls, theirs), {"__module__": cls.__module__})
        return super().__new__(ours)

    def __init__(self, on_leak: str = "warn", stop_at: Optional[float] = 0.9) -> None:
        checked(on_leak, stop_at, "LeakHook")
        self.on_leak, self.stop_at = on_leak, stop_at
        self.stopped = ""  # why it has ended a loop
        self._loop: Optional[Loop] = None

    @property
    def findings(self) -> List[Finding]:
        """What leaks, or leaked, in the last loop."""
        return self._loop.block.findings if self._loop is not None else []

    def report(self) -> Report:
        """What the last loop made, freed and kept."""
        if self._loop is None:
            raise Unavailable("nothing has been watched yet: give the hook to an estimator or a MonitoredSession")
        return self._loop.block.report()

    # -- what TensorFlow calls

    def begin(self) -> None:
        """A session is about to be made; a loop that an error has ended is over."""
        if self._loop is not None and not self._loop.is_over:
            self._loop.end()
        self.stopped = ""
        self._loop = Loop(watch("the session's loop", warmup=_WARMUP), self.on_leak, self.stop_at)
        self._loop.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Nothing; again, where a session had to be made anew."""

    def before_run(self, run_context: Any) -> None:
        """Nothing is fetched."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """A run is a step."""
        loop = self._loop
        stop = loop.step() if loop is not None and not loop.is_over else None
        if stop is None or loop is None:
            return
        if stop.finding is not None and self.on_leak == "raise":
            loop.end()
            raise LeakFound(stop.why)
        self.stopped = stop.why
        run_context.request_stop()
        guard.logger.warning("%s", stop.why)

    def end(self, session: Any) -> None:
        """The loop is over."""
        if self._loop is not None:
            self._loop.end()
