"""Dataset iterators that are kept, and datasets that cache in memory whatever passes."""
from __future__ import annotations

from typing import Any, Dict

from .. import tfapi
from .scene import Probe


class Datasets(Probe):
    """Sees iterators being made, and `Dataset.cache()` without a file."""

    name = "datasets"
    watches = "live dataset iterators by line; in-memory dataset caches"

    def install(self) -> None:
        self.after("iterator", self._iterator)
        if tfapi.has("cache_dataset"):
            self.after("cache_dataset", self._cached)

    def _iterator(self, result: Any, iterator: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self.scene.born("iterator", iterator)

    def _cached(self, result: Any, dataset: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        filename = args[0] if args else kwargs.get("filename", "")
        if isinstance(filename, str) and not filename:
            self.scene.born("cache_dataset", result)
