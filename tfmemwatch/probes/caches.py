"""What fills TensorFlow's own caches without any Python object growing: seeds, queues, tables made anew."""

from __future__ import annotations

from typing import Any, Set, Tuple

from ..seams import places
from .scene import Probe, Scene

_MOST_SEEDS = 20000


class Caches(Probe):
    """Sees, where they are made, the things whose every new one leaves a kernel or a resource behind."""

    name = "caches"
    watches = "new seeds of eager random ops, new queues and new lookup tables, by line"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._seeds: Set[Tuple[Any, ...]] = set()

    def install(self) -> None:
        self._eagerly = places.find("executing_eagerly").value
        for what, note in (("seed", self._seeded), ("queue", self._queue), ("table", self._table)):
            if places.has(what):
                self.after(what, note)

    def start_afresh(self) -> None:
        self._seeds = set()

    def _seeded(self, result: Any, *args: Any, **kwargs: Any) -> None:
        """With a global seed every eager random op gets a seed of its own: an attribute, hence a new kernel."""
        if result[0] is None or result in self._seeds or not self._eagerly():
            return
        if len(self._seeds) < _MOST_SEEDS:
            self._seeds.add(result)
            self.scene.happened("seed")

    def _queue(self, result: Any, *args: Any, **kwargs: Any) -> None:
        if self._eagerly():
            self.scene.happened("queue")

    def _table(self, result: Any, *args: Any, **kwargs: Any) -> None:
        if self._eagerly():
            self.scene.happened("table")
