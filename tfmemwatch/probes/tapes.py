"""Gradient tapes that stay open, or are kept: they hold what every operation under them took and gave."""

from __future__ import annotations

import time
import weakref
from typing import Any, Collection, Container, Dict, List

from ..explain import source
from ..heap.classes import ids_of
from ..heap.instances import references_to
from ..heap.room import heap_size
from ..ledger.counts import Place, site_of
from ..model import Site
from ..seams import places
from .scene import Probe, Scene

_MOST_KNOWN = 10000


class _Known:
    """A tape that lives; the reference takes it out of the table when it does no more."""

    __slots__ = ("at", "is_recording", "ref", "since")

    def __init__(self, ref: Any, at: Place) -> None:
        self.ref = ref
        self.at = at
        self.since = time.monotonic()  # when it began to record
        self.is_recording = True


def from_before(known: Container[int] = ()) -> List[Any]:
    """Weak references to the tapes that record, those from before the watch too; but for those with these ids."""
    kind = places.find("tape_push").holder if places.has("tape_push") else None
    refs = references_to(ids_of((kind,))) if kind is not None and not heap_size.too_large() else []
    return [ref for ref in refs if _records(ref(), known)]


def _records(tape: Any, known: Container[int]) -> bool:
    return tape is not None and id(tape) not in known and bool(tape._recording)


def lines_from_before(known: Container[int]) -> List[Site]:
    """Where tapes that record, but were opened before anyone watched, may have been opened."""
    if not from_before(known):
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
        self._known: Dict[int, _Known] = {}

    def install(self) -> None:
        self.after_method("tape_push", self._pushed)
        self.after_method("tape_pop", self._popped, always=True)

    def _pushed(self, tape: Any) -> None:
        key, all_known = id(tape), self._known
        known = all_known.get(key)
        if known is not None:  # it goes on, after stop_recording() or reset()
            known.is_recording = True
            return
        if not self.scene.rank:
            return
        at, stack = self.scene.where("tape")
        self.scene.ledger.born("tape", at, tape, None, "", stack)
        if len(all_known) < _MOST_KNOWN:
            all_known[key] = _Known(weakref.ref(tape, lambda ref: all_known.pop(key, None)), at)

    def _popped(self, tape: Any) -> None:
        known = self._known.get(id(tape))
        if known is not None:
            known.is_recording = False

    def recording(self, seconds: float) -> List[Site]:
        now = time.monotonic()
        entries = [(known.since, known.at) for known in list(self._known.values()) if known.is_recording]
        entries.sort(key=lambda entry: entry[0])
        return [site_of(at) for since, at in entries if now - since >= seconds]

    def tapes(self) -> Collection[int]:
        return self._known
