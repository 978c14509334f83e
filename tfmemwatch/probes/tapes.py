"""Gradient tapes that stay open, or are kept: they hold what every operation under them took and gave."""
from __future__ import annotations

import time
import weakref
from typing import Any, Dict, List, NamedTuple, Tuple

from .. import tfapi
from ..model import Site
from .scene import Probe, Scene


class OpenTape(NamedTuple):
    """A tape that is recording."""

    site: Site
    seconds: float
    persistent: bool


class Tapes(Probe):
    """Sees tapes begin and end to record."""

    name = "tapes"
    watches = "gradient tapes that are open, and tapes that are kept, by line"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.start_afresh()

    def start_afresh(self) -> None:
        self._open: Dict[int, Tuple[Any, Site, float]] = {}

    def install(self) -> None:
        self.after("tape_push", self._pushed)
        self.after("tape_pop", self._popped)

    def _pushed(self, result: Any, tape: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        if not self.scene.rank or id(tape) in self._open:
            return
        key = id(tape)
        at, stack = self.scene.where()
        self.scene.ledger.born("tape", at, tape, stack=stack)
        forget = self._open.pop
        self._open[key] = (weakref.ref(tape, lambda ref: forget(key, None)), at, time.monotonic())

    def _popped(self, result: Any, tape: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self._open.pop(id(tape), None)

    def recording(self) -> List[OpenTape]:
        """The tapes that are recording now, the oldest first."""
        now = time.monotonic()
        found = []
        for ref, at, since in sorted(list(self._open.values()), key=lambda entry: entry[2]):
            tape = ref()
            if tape is not None:
                found.append(OpenTape(at, now - since, bool(getattr(tape, "_persistent", False))))
        return found
