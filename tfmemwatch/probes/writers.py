"""Summary writers that are never closed: each holds a thread and a file."""
from __future__ import annotations

from typing import Any, Dict

from .. import tfapi
from ..errors import Unavailable
from .scene import Probe


class Writers(Probe):
    """Sees writers of both kinds, tf.summary.FileWriter and tf.summary.create_file_writer."""

    name = "writers"
    watches = "summary writers open, by line"

    def install(self) -> None:
        for what in ("event_writer", "summary_writer"):
            if tfapi.has(what):
                self.after(what, self._opened)
                self.after(what + "_close", self._closed)
        if not self.patches:
            raise Unavailable("this TensorFlow has no summary writers")

    def _opened(self, result: Any, writer: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self.scene.born("writer", writer, ends=True)

    def _closed(self, result: Any, writer: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self.scene.ledger.ended(writer, "writer_closed")
