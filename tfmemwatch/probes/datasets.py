"""Dataset iterators that are kept, and datasets that cache in memory whatever passes."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional

from ..explain import source
from ..heap.classes import all_classes, class_named, ids_of
from ..heap.instances import references_to
from ..heap.room import heap_size
from ..model import UNKNOWN, Site
from ..seams import places
from .scene import Probe

_ENDLESS = 10**6  # elements from which on a cache in memory is no cache any more
_PART_BYTES = 512  # of one tensor of an element, beside its data: a buffer, its place in a list


_METHODS = {  # of Dataset: those that remember elements, by the type that they make
    "CacheDataset": "cache",
    "_UniqueDataset": "unique",
    "_ScanDataset": "scan",
    "_ShuffleDataset": "shuffle",
    "_GroupByWindowDataset": "group_by_window",
    "_GroupByReducerDataset": "group_by_reducer",
}


class Remembering(NamedTuple):
    """A dataset that remembers elements: the line that says so, its method, and how many at most."""

    site: Site
    method: str
    most_elements: Optional[int] = None  # None where they never end
    element_bytes: Optional[int] = None  # where their shapes are known


def remembering(caches: List[Site]) -> List[Remembering]:
    """Datasets that were told to remember elements, those without an end first.

    `caches` are the lines where caches were seen being made.
    """
    kinds = ids_of(kind for kind in all_classes() if class_named(kind) in _METHODS)
    refs = references_to(kinds) if kinds and not heap_size.too_large() else []
    living = [_read(one) for one in (ref() for ref in refs) if one is not None]
    endless = {one.method for one in living if one.most_elements is None}
    methods = [method for method in _METHODS.values() if method in endless]
    found = [Remembering(at, "cache") for at in caches] if "cache" in methods else []
    files = source.project_files()
    found += [Remembering(at, method) for method in methods for at in source.calling(method, files)]
    return found + [_at_its_line(one, caches, files) for one in living if one.most_elements is not None]


def _at_its_line(one: Remembering, caches: List[Site], files: List[str]) -> Remembering:
    lines = (caches if one.method == "cache" else []) or source.calling(one.method, files)
    return one._replace(site=lines[0]) if lines else one


def _read(dataset: Any) -> Remembering:
    """What one of them remembers at most: all of its elements, or as many as its buffer has places."""
    method = _METHODS[class_named(type(dataset))]
    limits = [limit for limit in (_length(dataset), _places(dataset)) if limit is not None and limit < _ENDLESS]
    return Remembering(UNKNOWN, method, min(limits) if limits else None, _element_bytes(dataset))


def _length(dataset: Any) -> Optional[int]:
    """How many elements it has; None where they never end, or that is not known."""
    try:
        length = int(dataset.cardinality())
    except Exception:
        return None
    return length if length >= 0 else None


def _places(dataset: Any) -> Optional[int]:
    """How many elements the buffer of a shuffle has; None for all others."""
    try:
        return int(dataset._buffer_size)
    except Exception:
        return None


def _element_bytes(dataset: Any) -> Optional[int]:
    """What one element weighs, with what the allocator adds; None where its shape is open."""
    try:
        return sum(map(_spec_bytes, _parts(dataset.element_spec)))
    except Exception:
        return None


def _spec_bytes(spec: Any) -> int:
    if not spec.dtype.size:
        raise ValueError("as long as each text is")
    return _PART_BYTES + int(spec.shape.num_elements()) * int(spec.dtype.size)


def _parts(spec: Any) -> List[Any]:
    """The specs of the tensors that make an element."""
    if isinstance(spec, dict):
        spec = tuple(spec.values())
    return [part for one in spec for part in _parts(one)] if isinstance(spec, (tuple, list)) else [spec]


class Datasets(Probe):
    """Sees iterators being made, and `Dataset.cache()` without a file."""

    name = "datasets"
    watches = "live dataset iterators by line; in-memory dataset caches"

    def install(self) -> None:
        self.after_method("iterator", self._iterator)
        if places.has("cache_dataset"):
            self.after("cache_dataset", self._cached)

    def _iterator(self, iterator: Any) -> None:
        self.scene.born("iterator", iterator)

    def _cached(self, result: Any, dataset: Any, filename: Any = "", name: Any = None) -> None:
        if isinstance(filename, str) and not filename:
            self.scene.born("cache_dataset", result)
