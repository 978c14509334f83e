"""One thing at the end of a way, and what is in it: asked for by ids, and given back at once."""

from __future__ import annotations

import collections
import sys
from itertools import chain, compress, count, islice, repeat
from operator import eq
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from .classes import ids_of
from .one_call import OneCall, of_types
from .shapes import MOST_CHILDREN, known_shapes

_DICT = ids_of((dict,))


def along(call: OneCall, namespace: Any, way: Iterable[int]) -> List[Any]:
    """A box in which the thing at the end of a way stands, or none where it is there no more."""
    at = call.box([namespace])
    sized = known_shapes()
    for thing in way:
        at = call.box(_those(call.lists(sized.parts_of(at)), thing))
    return at


def _those(parts: List[List[Any]], wanted: int) -> Iterator[Any]:
    def each() -> Iterator[Any]:
        return chain.from_iterable(iter(parts))

    def within() -> Iterator[Any]:  # an object may have been given its dict of attributes meanwhile
        return chain.from_iterable(map(dict.values, of_types(each, _DICT)))

    direct = compress(each(), map(eq, map(id, each()), repeat(wanted)))
    return islice(chain(direct, compress(within(), map(eq, map(id, within()), repeat(wanted)))), 1)


def part_of(owner: Any, wanted: int) -> List[Any]:
    """The part of a thing that has this id, in a list; an empty one where it has gone."""
    found: List[Any] = []
    call = OneCall()
    call.do(map(found.extend, (along(call, owner, (wanted,)),)))
    call.run()
    return found


def key_of(names: Dict[Any, Any], wanted: int) -> List[Any]:
    """The key under which a dict has the thing with this id, in a list."""
    found: List[Any] = []
    call = OneCall()
    keys: Iterator[Any] = iter(dict.keys(names))
    values: Iterator[Any] = iter(dict.values(names))
    if len(names) > MOST_CHILDREN and sys.version_info >= (3, 8):
        keys, values = reversed(dict.keys(names)), reversed(dict.values(names))
    those = compress(keys, map(eq, map(id, islice(values, MOST_CHILDREN)), repeat(wanted)))
    call.do(map(found.extend, (islice(those, 1),)))
    try:
        call.run()
    except RuntimeError:  # it has changed
        return []
    return found


def index_of(items: Any, base: Any, wanted: int) -> Optional[int]:
    """Where among the items of a collection the thing with this id stands; of a long one among the newest."""
    call = OneCall()
    first = max(0, base.__len__(items) - MOST_CHILDREN)
    if base is collections.deque:
        each: Iterator[Any] = islice(base.__reversed__(items), MOST_CHILDREN)
    else:
        each = chain.from_iterable(map(base.__getitem__, (items,), (slice(first, None),)))
    try:
        found = call.numbers(islice(compress(count(), map(eq, map(id, each), repeat(wanted))), 1))
        call.run()
    except RuntimeError:  # it has changed
        return None
    if not found:
        return None
    return base.__len__(items) - 1 - found[0] if base is collections.deque else first + found[0]


def length_of(namespace: Any, way: Iterable[int], base: type) -> Optional[int]:
    """How long the collection at the end of a way is, of which the length is that of a builtin class."""
    call = OneCall()
    found = call.numbers(map(base.__len__, along(call, namespace, way)))  # type: ignore[attr-defined]
    try:
        call.run()
    except TypeError:  # another thing has its id by now
        return None
    return found[0] if found else None


def kind_at(namespace: Any, way: Iterable[int]) -> Optional[type]:
    """The class of what stands at the end of a way."""
    kinds: List[type] = []
    call = OneCall()
    call.do(map(kinds.extend, (map(type, along(call, namespace, way)),)))
    call.run()
    return kinds[0] if kinds else None


def kind_and_length(owner: Any, wanted: int) -> Tuple[type, Optional[int]]:
    """The class of a part of a thing, and its length where that is a collection."""
    kinds: List[type] = []
    call = OneCall()
    those = along(call, owner, (wanted,))
    call.do(map(kinds.extend, (map(type, those),)))
    sized = known_shapes()
    counted = call.numbers(sized.lengths_of(those))
    call.run()
    if not kinds:
        return object, None
    return kinds[0], counted[0] if id(kinds[0]) in sized.lengths else None
