"""What is alive beyond what is counted: eager tensors, and Python collections that grow. Only on request.

Collections are those that the program's names lead to. Nothing of the program's is held: ids and lengths are.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ..heap import frames
from ..heap.classes import all_classes, class_named
from ..heap.leaves import ids_of_modules
from ..heap.modules import of_all_modules
from ..heap.one_call import OneCall
from ..heap.parts import along, kind_at
from ..heap.room import heap_size
from ..heap.shapes import base_of
from ..heap.tensors import tensors_by_size, with_values
from ..heap.weights import Weighed, cached_in, is_cached, weigh_items
from ..holders.search import STAGES, Met, Way, searches, way_to
from ..safety import guard

_LEAST_LENGTH = 3
_MOST_AMONG = 4096
_ITEMS = 4  # of a collection that are weighed


class Census(NamedTuple):
    """One look at the collections that the program's names lead to, and at all eager tensors."""

    lengths: Dict[int, int]  # of collections, by id
    tensors: int
    met: Tuple[Met, ...] = ()  # by which ways


class Grown(NamedTuple):
    """A collection that has become longer."""

    way: Way
    length: int
    more: int


class Weight(NamedTuple):
    """What one more item of a collection keeps alive, beyond what the item before it keeps alive too."""

    bytes: float
    tensors: float


_NOTHING = Weight(0.0, 0.0)
_STAGES = tuple(STAGES[at] for at in (0, 1, 3))  # the program's and its libraries': what TensorFlow keeps is counted
_SECONDS = 0.3  # of the processor, in calls of which none is long


def take(tensor: Optional[type] = None) -> Census:
    """Count the tensors, and measure the collections that can be reached."""
    guard.disturbed()
    met: List[Met] = []
    lengths: Dict[int, int] = {}
    for one in searches(_STAGES, (), _SECONDS):
        before = len(lengths)
        lengths.update((thing, length) for thing, length in one.lengths() if length >= _LEAST_LENGTH)
        if len(lengths) > before:
            met.append(one)
    count = number_of_tensors(tensor)
    guard.disturbed()
    return Census(lengths, count, tuple(met))


def number_of_tensors(kind: Optional[type]) -> int:
    """How many eager tensors there are; 0 where there are too many objects to look at all of them."""
    return 0 if kind is None or heap_size.too_large() else len(with_values(kind))


def newest_tensors(kind: Optional[type], most: int) -> List[int]:
    """The ids of so many eager tensors, those that came last first."""
    return [] if kind is None or heap_size.too_large() or most <= 0 else with_values(kind)[-most:][::-1]


def largest(kind: type, least: float) -> List[int]:
    """The id of the largest eager tensor, where it has so many bytes; else nothing."""
    found = [] if heap_size.too_large() else tensors_by_size(kind)
    size, tensor = max(found, default=(0, 0))
    return [tensor] if size >= least else []


def bytes_of(kind: Optional[type], tensors: Iterable[int]) -> int:
    """The bytes of these eager tensors together."""
    wanted = frozenset(tensors)
    sizes = tensors_by_size(kind) if kind is not None and wanted and not heap_size.too_large() else []
    return sum(size for size, one in sizes if one in wanted)


def grown(before: Census, after: Census, least: int, most: int = 12) -> List[Grown]:
    """The collections that have grown most between two looks."""
    old = before.lengths
    rows = [(length - old[key], key) for key, length in after.lengths.items() if length - old.get(key, length) >= least]
    found = []
    for more, key in sorted(rows, reverse=True)[: 4 * most]:
        way = next(filter(None, (met.way_to(key) for met in after.met)), None)
        if way is not None:
            found.append(Grown(way, after.lengths[key], more))
    return found[:most]


def tensor_kinds() -> List[type]:
    """The classes of eager tensors; nothing of TensorFlow is imported for it."""
    return [kind for kind in (ref() for ref in _tensor_kinds()) if kind is not None]


@of_all_modules
def _tensor_kinds() -> List[weakref.ReferenceType[type]]:
    return [weakref.ref(kind) for kind in all_classes() if class_named(kind) == "EagerTensor"]


def weight_of_item(container: Any, among: int = _ITEMS) -> Weight:
    """About what one more item costs: the bytes and tensors that hang on some of the newest items."""
    base = base_of(type(container))
    return _weight(weigh_items(lambda call: call.box([container]), base, _closed(id(container)), among, _ITEMS,
                                    tensor_kinds()))  # fmt: skip


def weight_at(way: Way, among: int = _ITEMS) -> Weight:
    """The same for the collection at the end of a way."""
    return _weight(_weighed_at(way, among))


def keeps_any(way: Way, among: int, things: FrozenSet[int]) -> bool:
    """Whether items of the collection at the end of a way keep things with these ids, each its own."""
    return any(thing in things for thing, _ in _own(_weighed_at(way, among)))


def own_of_items(way: Way, among: int = _ITEMS) -> FrozenSet[int]:
    """The ids of what the newest items of the collection at the end of a way have, and do not share."""
    return frozenset(thing for thing, _ in _own(_weighed_at(way, among)))


def _weighed_at(way: Way, among: int) -> Sequence[Weighed]:
    namespace = way.root.namespace(way.steps[0])
    if namespace is None:
        return ()
    kind = kind_at(namespace, way.steps)
    if kind is None or base_of(kind) is object:
        return ()
    closed, kinds = _closed(way.steps[-1]), tensor_kinds()
    before = kind_at(namespace, way.steps[:-1]) if len(way.steps) > 1 else None
    if before is not None and class_named(before) == "_lru_cache_wrapper":
        cache = functools.partial(_along, namespace, way.steps[:-1])
        if not is_cached(cache, way.steps[-1]):
            found = weigh_items(lambda call: cached_in(call, cache(call)), list, closed, among, _ITEMS, kinds)
            if _weight(found).bytes:  # one without a bound holds its results in the dict
                return found
    at = functools.partial(_along, namespace, way.steps)
    return weigh_items(at, base_of(kind), closed, among, _ITEMS, kinds)


def _along(namespace: Any, steps: Tuple[int, ...], call: OneCall) -> List[Any]:
    return along(call, namespace, steps)


def _closed(container: int) -> List[int]:
    """What an item leads to as everything does: modules, the frames that run, the collection itself."""
    return [container, *ids_of_modules(), *frames.ids()]


def _own(weighed: Sequence[Weighed]) -> Iterator[Tuple[int, Weighed]]:
    """A thing is an item's own if it is nearer to it than to the next item: what they share is not."""
    for index, mine_ in enumerate(weighed):
        other = weighed[index - 1].steps if len(weighed) > 1 else {}
        for thing, steps in mine_.steps.items():
            if thing not in other or steps < other[thing]:
                yield thing, mine_


def _weight(weighed: Sequence[Weighed]) -> Weight:
    total = some = 0.0
    for thing, item in _own(weighed):
        total += item.sizes.get(thing, 0)
        some += thing in item.tensors
    return Weight(total / len(weighed), some / len(weighed)) if weighed else _NOTHING


def is_reachable(things: Iterable[int], seconds: float) -> bool:
    """Whether a name of the program's leads to one of these: then it is no garbage."""
    return way_to(things, seconds) is not None
