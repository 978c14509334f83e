"""Dataset iterators that are kept, and datasets that cache in memory whatever passes."""
from __future__ import annotations

from typing import Any, List

from .. import census, source, tfapi
from ..model import Site
from .scene import Probe


_ENDLESS = 10**6  # elements from which on a cache in memory is no cache any more


def endless_caches(known: List[Site]) -> List[Site]:
    """Where datasets that never end were told to cache in memory; those from before the watch are looked for."""
    kinds = {kind for kind in census.types_alive() if kind.__name__ in ("CacheDataset", "_CacheDataset")}
    if not any(map(_is_endless, census.everything(kinds))):
        return []
    return known or source.calling("cache", source.project_files(), plain=True)


def _is_endless(dataset: Any) -> bool:
    """An infinite dataset, one of unknown length, or one too long to be kept."""
    try:
        length = int(dataset.cardinality())
    except Exception:
        return True
    return length < 0 or length >= _ENDLESS


class Datasets(Probe):
    """Sees iterators being made, and `Dataset.cache()` without a file."""

    name = "datasets"
    watches = "live dataset iterators by line; in-memory dataset caches"

    def install(self) -> None:
        self.after_method("iterator", self._iterator)
        if tfapi.has("cache_dataset"):
            self.after("cache_dataset", self._cached)

    def _iterator(self, iterator: Any) -> None:
        self.scene.born("iterator", iterator)

    def _cached(self, result: Any, dataset: Any, filename: Any = "", name: Any = None) -> None:
        if isinstance(filename, str) and not filename:
            self.scene.born("cache_dataset", result)
