"""How things with a length are asked for it, and for their parts where it is long."""

from __future__ import annotations

import collections
import functools
import gc
import sys
import weakref
from itertools import islice, repeat, tee
from operator import methodcaller
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .classes import bases_of, ids_of, slot_of, with_children
from .one_call import apply, no_length, types_of

MOST_CHILDREN = 4096  # of one collection that are looked at: the newest
_COLLECTIONS: Tuple[type, ...] = (list, dict, set, collections.deque)
SIZED: Tuple[type, ...] = (*_COLLECTIONS, tuple, frozenset)

_parts = functools.partial(gc.get_referents)
_nothing = functools.partial(gc.get_referents, ())
_oldest = functools.partial(iter)
_newest = functools.partial(reversed)


def base_of(kind: type) -> type:
    """The builtin class whose length a collection has; `object` for all else."""
    bases = ids_of(bases_of(kind))  # a metaclass may compare in Python
    found = next((base for base in SIZED if id(base) in bases), None)
    if found is None or slot_of(kind, "__len__") is not found.__dict__["__len__"]:
        return object
    return found


class Shapes(NamedTuple):
    """How things with a length are asked for it, and for their parts where it is long; by the id of their class."""

    lengths: Dict[int, Any]
    parts: Dict[Tuple[int, bool], Any]
    order: Dict[Tuple[int, bool], Any]

    def lengths_of(self, things: List[Any]) -> Iterator[int]:
        """Of each thing its length; 0 of what is no collection."""
        return map(apply, map(self.lengths.get, types_of(things), repeat(no_length)), iter(things))

    def parts_of(self, things: List[Any], chosen: Optional[Iterator[Any]] = None) -> Iterator[List[Any]]:
        """Of each thing a list of its parts; of a long one the newest."""
        keys, keys_again = tee(zip(types_of(things), map(MOST_CHILDREN.__lt__, self.lengths_of(things))))  # numbers
        found = map(apply, map(self.parts.get, keys, repeat(_parts)), iter(things) if chosen is None else chosen)
        ordered = map(apply, map(self.order.get, keys_again, repeat(_oldest)), found)
        return map(list, map(islice, ordered, repeat(MOST_CHILDREN)))


def shapes() -> Shapes:
    """For lists, dicts, tuples, sets and deques, and those derived from them that count as these do.

    Only classes that are new are asked, as long as none has died: there are thousands of named tuples.
    """
    found, met, died = next((known for known in _known[:] if not known[2]), (Shapes({}, {}, {}), {}, []))
    for base in SIZED:
        length, parts = functools.partial(base.__len__), _long_parts(base)  # type: ignore[attr-defined]
        for kind in with_children((base,)):
            if (base, id(kind)) in met:
                continue
            met[base, id(kind)] = weakref.ref(kind, died.append)
            if slot_of(kind, "__len__") is not base.__dict__["__len__"]:
                continue
            found.lengths[id(kind)] = length
            is_plain = base not in (list, tuple) or slot_of(kind, "__getitem__") is base.__dict__["__getitem__"]
            found.parts[id(kind), True] = parts if is_plain else _nothing
            if base is dict and sys.version_info >= (3, 8):
                found.order[id(kind), True] = _newest
    _known[:] = [(found, met, died)]
    return found


# The latest, the classes that were asked, and those of them that have died.
_known: List[Tuple[Shapes, Dict[Tuple[type, int], Any], List[Any]]] = []


def known_shapes() -> Shapes:
    """The same of the classes that there were when they were asked for last, if all of them live.

    It takes 5 ms to ask all classes. What is of a newer one is taken for a thing without a length; and the id of one
    that has died may be another class's.
    """
    for found, _, died in _known[:]:
        if not died:
            return found
    return shapes()


def _long_parts(base: Any) -> Any:
    if base in (list, tuple):
        return functools.partial(methodcaller("__getitem__", slice(-MOST_CHILDREN, None)))
    if base is dict:
        return functools.partial(dict.values)
    return functools.partial(base.__reversed__ if base is collections.deque else base.__iter__)
