"""Dataset iterators that are kept, and datasets that cache in memory whatever passes."""

from __future__ import annotations

from typing import Any, List, Tuple

from .. import census, source, tfapi
from ..model import Site
from .scene import Probe

_ENDLESS = 10**6  # elements from which on a cache in memory is no cache any more


_METHODS = {  # of Dataset: those that remember elements, by the type that they make
    "CacheDataset": "cache",
    "_UniqueDataset": "unique",
    "_ScanDataset": "scan",
    "_ShuffleDataset": "shuffle",
    "_GroupByWindowDataset": "group_by_window",
    "_GroupByReducerDataset": "group_by_reducer",
}


def hoarders(caches: List[Site]) -> List[Tuple[Site, str]]:
    """Where datasets that never end were told to remember elements; `caches` are those that were seen being made."""
    kinds = {kind for kind in census.types_alive() if kind.__name__ in _METHODS}
    endless = {type(one).__name__ for one in census.everything(kinds) if _is_endless(one)}
    methods = [method for name, method in _METHODS.items() if name in endless]
    found = [(at, "cache") for at in caches] if "cache" in methods else []
    files = source.project_files()
    return found + [(at, method) for method in methods for at in source.calling(method, files)]


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
