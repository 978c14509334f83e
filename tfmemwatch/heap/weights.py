"""What things weigh, and what an item of a collection keeps alive."""

from __future__ import annotations

import collections
import functools
import gc
import io
import sys
import weakref
from array import array
from itertools import chain, islice, repeat
from operator import itemgetter
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence

from .classes import NO_IDS, Ids, ids_of, slot_of, with_children
from .leaves import PLAIN, leaves
from .one_call import OneCall, apply, no_length, of_types
from .parts import along
from .search import Walk
from .shapes import MOST_CHILDREN, SIZED, shapes
from .tensors import bytes_of, elements

_MOST_REACHED = 3000  # that one item of a collection leads to

_size = functools.partial(sys.getsizeof)
_SIZED_BY_PYTHON = (
    *SIZED, *PLAIN, array, io.BytesIO, io.StringIO, collections.OrderedDict, collections.defaultdict,
    FunctionType, MethodType, FrameType, GeneratorType, CoroutineType, AsyncGeneratorType, memoryview,
)  # fmt: skip


class Sizers:
    """How the bytes of a thing are asked for, by the id of its class, without its own `__sizeof__`."""

    def __init__(self, tensors: Ids = NO_IDS) -> None:
        self.by_type: Dict[int, Any] = {}
        for base in (*SIZED, int, str, bytes, bytearray):
            size = functools.partial(base.__sizeof__)
            self.by_type.update((id(kind), size) for kind in with_children((base,)))
        self.by_type.update((id(kind), _size) for kind in _SIZED_BY_PYTHON)
        self.tensors = tensors
        self.other = functools.partial(object.__sizeof__)
        array_kind = getattr(sys.modules.get("numpy"), "ndarray", None)
        if array_kind is not None:
            nbytes = functools.partial(array_kind.nbytes.__get__)
            self.by_type.update((id(kind), nbytes) for kind in with_children((array_kind,)))
        message = getattr(sys.modules.get("google.protobuf.message"), "Message", None)
        for kind in with_children((message,)) if message is not None else ():
            weigh = slot_of(kind, "ByteSize")  # a protocol buffer: what it holds is not Python's
            if type(weigh) is MethodDescriptorType:
                self.by_type[id(kind)] = functools.partial(weigh)
        nothing = with_children((type, ModuleType, weakref.ReferenceType))
        self.by_type.update(dict.fromkeys(chain(map(id, nothing), tensors), no_length))

    def of(self, things: Callable[[], Iterator[Any]]) -> Iterator[int]:
        """The bytes of each of these things; 0 for tensors, which are asked for by their elements."""
        return map(apply, map(self.by_type.get, map(id, map(type, things())), repeat(self.other)), things())


def sizers_of_plain() -> Dict[int, Any]:
    """How the bytes of arrays, texts and bytes are asked for; nothing for all else."""
    found = {id(kind): _size for kind in (str, bytes, bytearray, array, io.BytesIO, io.StringIO)}
    array_kind = getattr(sys.modules.get("numpy"), "ndarray", None)
    if array_kind is not None:
        found[id(array_kind)] = functools.partial(array_kind.nbytes.__get__)
    return found


class Weighed(NamedTuple):
    """What one thing keeps alive: by id, in how many steps, and how many bytes it is; and the tensors among it."""

    steps: Dict[int, int]
    sizes: Dict[int, int]
    tensors: Ids


def weigh_items(
    at: Callable[[OneCall], List[Any]], base: type, closed: Iterable[int], among: int, most: int,
    tensors: Sequence[type],
) -> List[Weighed]:  # fmt: skip
    """Some of the newest items of a collection, spread over so many of them, each with all that hangs on it."""
    call = OneCall()
    kinds = ids_of(tensors)
    sized, closed_in, sizers = shapes(), leaves() | kinds, Sizers(kinds)
    apart = max(1, min(among, MOST_CHILDREN) // most)
    items = call.box(_newest_items(call, at(call), base, most * apart, apart))
    rows = []
    for number in range(most):
        item = call.box(islice(iter(items), number, number + 1))
        seen = dict.fromkeys(closed, -1)
        walk = Walk(call, [item], seen, closed_in, sized, lambda parts: repeat(True), _MOST_REACHED)
        of_tensors = call.box(of_types(walk.all_parts, kinds))
        rows.append((
            call.numbers(map(id, walk.things)), call.numbers(map(len, walk.parts)),
            call.numbers(map(id, walk.all_parts())), call.numbers(sizers.of(walk.all_parts)),
            call.numbers(map(id, of_tensors)), *elements(call, of_tensors, tensors),
        ))  # fmt: skip
    call.run()
    return [_weighed(*row) for row in rows if row[2]]


def cached_in(call: OneCall, caches: List[Any]) -> List[List[Any]]:
    """The results that a `functools.lru_cache` of some size holds: its dict does not lead to them."""
    parts = call.lists(map(functools.partial(gc.get_referents), iter(caches)))
    return call.lists(map(list.__getitem__, iter(parts), repeat(_results())))


def is_cached(at: Callable[[OneCall], List[Any]], wanted: int) -> bool:
    """Whether the thing with this id is among the results that a `functools.lru_cache` of some size holds."""
    call = OneCall()
    found = call.numbers(map(id, chain.from_iterable(iter(cached_in(call, at(call))))))
    call.run()
    return wanted in found


@functools.lru_cache(maxsize=1)
def _results() -> slice:
    """Where the results stand among what such a cache refers to, as one of ours shows."""
    made = [[number] for number in range(3)]
    cached = functools.lru_cache(maxsize=3)(made.__getitem__)
    for number in range(3):
        cached(number)
    parts = gc.get_referents(cached)
    at = [index for index, part in enumerate(parts) if any(part is one for one in made)]
    return slice(at[0], at[2] + 1 - len(parts), at[1] - at[0]) if len(at) == 3 else slice(0)


def _newest_items(call: OneCall, at: List[Any], base: type, most: int, apart: int) -> Iterator[Any]:
    last: Any = functools.partial(collections.deque, maxlen=most)
    newest: Iterator[Any]
    if base in (list, tuple):
        newest = map(base.__getitem__, at, repeat(slice(-1, -1 - most, -1)))
    elif base is collections.deque:
        newest = map(collections.deque.__reversed__, at)
    elif base is dict and sys.version_info >= (3, 8):
        newest = map(reversed, map(dict.items, at))
    elif base is dict:
        newest = map(reversed, map(last, map(dict.items, at)))
    else:
        newest = map(last, map(base.__iter__, at))  # type: ignore[attr-defined]
    return chain.from_iterable(map(islice, newest, repeat(0), repeat(most), repeat(apart)))


def kind_of_newest(namespace: Any, way: Iterable[int], base: type) -> Optional[type]:
    """The class of the newest item of the collection at the end of a way; of a dict, of its value."""
    kinds: List[type] = []
    call = OneCall()
    items = _newest_items(call, along(call, namespace, way), base, 1, 1)
    if base is dict:
        items = map(itemgetter(1), items)
    call.do(map(kinds.extend, (map(type, items),)))
    call.run()
    return kinds[0] if kinds else None


def _weighed(things: array[int], counts: array[int], parts: array[int], sizes: array[int],
             tensors: array[int], numbers: array[int], types: array[int]) -> Weighed:  # fmt: skip
    steps = {things[0]: 0}
    weights: Dict[int, int] = {}
    start = 0
    for thing, number in zip(things, counts):
        for part, size in zip(parts[start : start + number], sizes[start : start + number]):
            if part not in steps:
                steps[part] = steps[thing] + 1
                weights[part] = size
        start += number
    for part, elements_of, kind in zip(tensors, numbers, types):
        weights[part] = bytes_of(elements_of, kind)
    del steps[things[0]]
    return Weighed(steps, weights, frozenset(tensors))
