"""Gradient tapes that stay open, or are kept: they hold what every operation under them took and gave."""

from __future__ import annotations

import time
import weakref
from typing import Any, Dict, List, NamedTuple, Tuple

from .. import census, source, tfapi
from ..ledger import Place, site_of
from ..model import Site
from .scene import Probe, Scene

_MOST_OPEN = 1000


class OpenTape(NamedTuple):
    """A tape that is recording."""

    site: Site
    seconds: float


def from_before() -> List[Any]:
    """The tapes that record, also those that were opened before anyone watched."""
    kind = tfapi.find("tape_push").holder if tfapi.has("tape_push") else None
    return [] if kind is None else [tape for tape in census.everything({kind}) if tape._recording]


def lines_from_before() -> List[Site]:
    """Where tapes that record, but were opened before anyone watched, may have been opened."""
    if not from_before():
        return []
    files = source.project_files()
    entered = source.calling("__enter__", files, plain=True)
    return entered + source.calling("GradientTape", files)


class Tapes(Probe):
    """Sees tapes begin and end to record."""

    name = "tapes"
    watches = "gradient tapes that are open, and tapes that are kept, by line"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.start_afresh()

    def start_afresh(self) -> None:
        self._open: Dict[int, Tuple[Any, Place, float]] = {}

    def install(self) -> None:
        self.after_method("tape_push", self._pushed)
        self.after_method("tape_pop", self._popped, always=True)

    def _pushed(self, tape: Any) -> None:
        key = id(tape)
        if key in self._open or not self.scene.rank:
            return
        at, stack = self.scene.where("tape")
        self.scene.ledger.born("tape", at, tape, None, "", stack)
        if len(self._open) >= _MOST_OPEN:
            self._purge()
        self._open[key] = (weakref.ref(tape), at, time.monotonic())

    def _popped(self, tape: Any) -> None:
        self._open.pop(id(tape), None)

    def _purge(self) -> None:
        """Tapes that died while recording have no other way out."""
        for key, entry in list(self._open.items()):
            if entry[0]() is None:
                self._open.pop(key, None)

    def recording(self) -> List[OpenTape]:
        """The tapes that are recording now, the oldest first."""
        self._purge()
        now = time.monotonic()
        entries = sorted(self._open.values(), key=lambda entry: entry[2])
        return [OpenTape(site_of(at), now - since) for _, at, since in entries]
