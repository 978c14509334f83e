"""Summary writers that are never closed: each holds a thread and a file."""

from __future__ import annotations

from typing import Any, Dict

from ..errors import Unavailable
from ..ledger.counts import Place
from ..seams import places
from .scene import Probe, Scene

_MOST_OPEN = 10000


class Writers(Probe):
    """Sees writers of both kinds, tf.summary.FileWriter and tf.summary.create_file_writer."""

    name = "writers"
    watches = "summary writers open, by line"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._open: Dict[int, Place] = {}

    def start_afresh(self) -> None:
        self._open.clear()

    def install(self) -> None:
        if places.has("event_writer"):
            self.after_method("event_writer", self._opened)
            self.after_method("event_writer_close", self._closed, always=True)
        if places.has("summary_writer"):
            self.after_method("summary_writer", self._opened_resource)
            self.after_method("summary_writer_close", self._closed_resource, always=True)
        if not self.patches:
            raise Unavailable("this TensorFlow has no summary writers")

    def _opened(self, writer: Any) -> None:
        """Its thread and its file outlive it: only a close ends them, not a collection."""
        if self.scene.rank and len(self._open) < _MOST_OPEN:
            at, stack = self.scene.where("writer")
            self._open[id(writer)] = at
            self.scene.ledger.happened("writer", at, stack=stack)

    def _closed(self, writer: Any) -> None:
        at = self._open.pop(id(writer), None)
        if at is not None:
            self.scene.ledger.undone("writer", at)

    def _opened_resource(self, writer: Any) -> None:
        self.scene.born("writer", writer, ends=True)

    def _closed_resource(self, writer: Any) -> None:
        self.scene.ledger.ended(writer, "writer_closed")
