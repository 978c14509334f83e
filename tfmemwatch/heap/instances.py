"""All things of some classes: how many there are, the newest of them, and weak references to them."""

from __future__ import annotations

import collections
import functools
import weakref
from itertools import chain, islice, repeat
from operator import is_
from typing import Any, Iterable, List

from .classes import Ids
from .one_call import OneCall, everything_in, of_types


def number_of(kind: type) -> int:
    """How many things of exactly this class the collector knows."""
    call = OneCall()
    found = call.numbers(map(sum, (map(is_, map(type, everything_in(call)()), repeat(kind)),)))
    call.run()
    return found[0]


def newest_of(kinds: Ids, most: int) -> List[int]:
    """The ids of those that the collector has met last."""
    call = OneCall()
    last = call.lists(map(functools.partial(list), map(functools.partial(collections.deque, maxlen=most),
                                                        (of_types(everything_in(call), kinds),))))  # fmt: skip
    found = call.numbers(map(id, chain.from_iterable(last)))
    call.run()
    return list(found)


def references_to(kinds: Ids, most: int = 100000) -> List[Any]:
    """Weak references to things of exactly these classes, which must be such that have some."""
    found: List[Any] = []
    call = OneCall()
    those = islice(of_types(everything_in(call), kinds), most)
    call.do(map(found.extend, (map(weakref.ref, those),)))
    call.run()
    return found


def ids_alive(references: Iterable[Any]) -> List[int]:
    """The ids of what weak references lead to, as far as it lives."""
    call = OneCall()
    things = call.box(map(weakref.ReferenceType.__call__, references))
    found = call.numbers(map(id, things))
    call.run()
    return [one for one in found if one != id(None)]
