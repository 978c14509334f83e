"""A search: all that can be reached from some namespaces, the nearest first, and the ways to it as ids."""

from __future__ import annotations

import collections
import time
from array import array
from bisect import bisect_right
from itertools import accumulate, chain, compress, count, filterfalse, islice, repeat, starmap, takewhile
from operator import and_, eq, not_, truth
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from .classes import Ids, ids_of
from .leaves import leaves
from .one_call import HOLD_SECONDS, OneCall, apply, is_none, no_length, none_if_false, second, types_of
from .room import room
from .shapes import Shapes, shapes

_SHARE_OF_SEARCH = 0.4  # of its time; the rest is for reading what it has met
_NAMELESS = ids_of((list, tuple, set, frozenset, collections.deque))


class Reached:
    """What a search has met, as ids; those of what has died may be another thing's by now."""

    def __init__(self, roots: int, things: array[int], kinds: array[int], lengths: array[int],
                 counts: array[int], parts: array[int], sizes: array[int]) -> None:  # fmt: skip
        self._roots = roots
        self.kinds = kinds  # the ids of their classes
        self.things = things  # what was looked into, or was to be
        self.lengths = lengths  # of collections among them; 0 of all else
        self._ends = list(accumulate(counts))  # where in `parts` those of each thing end
        self.parts = parts
        self._sizes = sizes

    @property
    def is_cut(self) -> bool:
        """Whether there were things that had no turn."""
        return len(self._ends) < len(self.things)

    def large(self, least: int, most_names: int) -> List[Tuple[Tuple[int, ...], int]]:
        """The ways to parts that have so many bytes and a name, and the bytes; in no dict of more than `most_names`."""
        found = {}
        for at, size in enumerate(self._sizes):
            owner = bisect_right(self._ends, at) if size >= least else -1
            if owner >= 0 and self.kinds[owner] not in _NAMELESS and self.lengths[owner] <= most_names:
                found[owner, self.parts[at]] = size
        return [((*self._way_to_thing(owner), part), size) for (owner, part), size in found.items()]

    def root_of(self, way: Tuple[int, ...]) -> int:
        """The number of the namespace with which a way begins."""
        return self.things.index(way[0])

    def way_to(self, thing: int) -> Tuple[int, ...]:
        """From one of the namespaces to a thing, both included; empty where it was not met."""
        try:
            return (*self._way_to_thing(bisect_right(self._ends, self.parts.index(thing))), thing)
        except ValueError:
            return ()

    def _way_to_thing(self, at: int) -> Tuple[int, ...]:
        way = [self.things[at]]
        while at >= self._roots:
            at = bisect_right(self._ends, self.parts.index(way[-1]))
            way.append(self.things[at])
        return tuple(way[::-1])


class Walk:
    """Steps that look through all that some things lead to, the nearest first; each thing once."""

    def __init__(
        self, call: OneCall, roots: Iterable[Any], seen: Dict[int, int], leaves: Ids, sized: Shapes,
        go_on: Callable[[List[List[Any]]], Iterator[Any]], most: int,
    ) -> None:  # fmt: skip
        """Things of the classes in `leaves` are met and not looked into, nor are those whose ids are in `seen`.

        `go_on` is asked for each thing before it is looked into, and given the parts of those before it.
        """
        self.things = call.box(roots)
        self.parts = call.lists()  # of each thing that was looked into
        entered = call.box()  # those of them that may be

        looked_into = compress(islice(iter(self.things), most), takewhile(truth, go_on(self.parts)))
        lists = sized.parts_of(self.things, looked_into)
        each = chain.from_iterable(map(second, map(self.parts.append, lists), iter(self.parts)))

        # Those that may be looked into and are new stand behind the others, and have their turn.
        may_be = map(not_, map(leaves.__contains__, map(id, map(type, self.all_parts()))))
        put = map(second, map(entered.append, compress(each, may_be)), iter(entered))
        is_new = map(eq, map(seen.setdefault, map(id, put), count()), count())
        call.do(map(self.things.append, filterfalse(is_none, map(none_if_false, is_new, iter(entered)))))

    def all_parts(self) -> Iterator[Any]:
        """All parts of all things."""
        return chain.from_iterable(iter(self.parts))


def search(
    namespaces: List[Any], goals: Iterable[int] = (), closed: Iterable[int] = (), seconds: float = HOLD_SECONDS,
    variables: Callable[[], List[Dict[str, Any]]] = list, sizers: Optional[Dict[int, Any]] = None,
    leaf_kinds: Optional[Ids] = None,
) -> Reached:  # fmt: skip
    """Look through what can be reached from some namespaces until one of the goals is met, or the time is over.

    `variables` is asked last, for dicts of its own, which are emptied in the end. `sizers` say how bytes are asked for.
    """
    goals, sized = frozenset(goals), shapes()
    until = time.thread_time() + _SHARE_OF_SEARCH * seconds  # a busy machine is no reason to see less

    def go_on(parts: List[List[Any]]) -> Iterator[Any]:
        in_time = map(until.__gt__, starmap(time.thread_time, repeat(())))
        return map(and_, in_time, chain((True,), map(goals.isdisjoint, map(map, repeat(id), iter(parts)))))

    call = OneCall()
    seen = dict.fromkeys(chain(closed, map(id, namespaces)), -1)
    walk = Walk(call, namespaces, seen, leaves() if leaf_kinds is None else leaf_kinds, sized, go_on, room.things)
    sizes: Iterator[int] = iter(())
    if sizers is not None:
        sizes = map(apply, map(sizers.get, map(id, map(type, walk.all_parts())), repeat(no_length)), walk.all_parts())
    reached = (
        call.numbers(map(id, walk.things)),
        call.numbers(types_of(walk.things)),
        call.numbers(sized.lengths_of(walk.things)),
        call.numbers(map(len, walk.parts)),
        call.numbers(map(id, walk.all_parts())),
        call.numbers(sizes),
    )
    number = len(namespaces)
    passing: List[Dict[str, Any]] = []
    call.do(map(dict.clear, passing))
    passing += variables()  # from here on it must not take long
    namespaces += passing
    call.run()
    del namespaces[number:]
    return Reached(number + len(passing), *reached)
