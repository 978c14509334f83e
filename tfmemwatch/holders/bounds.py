"""Whether a collection has a bound, and at which number: its own, its owner's, or one that the source keeps it at.

A number that is read is believed until the collection has become longer.
"""

from __future__ import annotations

import collections
import sys
from types import FunctionType, ModuleType
from typing import Any, Iterator, List, Optional, Sequence

from ..explain.bounds import is_renewed, may_bound, measures
from ..explain.size_limits import SIZE_NAME, Name, limits_of
from ..heap import frames
from ..heap.classes import bases_of, class_named, module_of, names_of
from ..heap.shapes import base_of
from ..ledger.site import attributes_of, file_of, is_framework, is_users
from ..model import Site
from .names import Holder, holder_at, is_function_cache
from .search import Way
from .steps import LEAST_LENGTH, MEMBER, is_attributes_of, is_suspended, length_at, owners_on

_MORE = 1.25  # times the number that a collection may be long before it is cut
_FEW = 8
_MOST = 10**9  # items, of which memory holds no more: a larger number bounds nothing
_EVERYONES = frozenset(("", "builtins", "abc", "typing"))
_COLLECTIONS = (list, dict, set, collections.deque)


# -- what is asked


def unbounded(holder: Optional[Holder]) -> Optional[Holder]:
    """The holder, if it can grow for ever."""
    if holder is None or with_bound(holder).bound is not None:
        return None
    is_librarys = not is_users(holder.module, True) and holder.line is None
    if is_librarys and _measures(holder.module, holder.names, holder.owners):
        return None
    inner = holder.inner
    return None if inner is not None and _measures(inner.module, (inner.name,), inner.owners) else holder


def with_bound(holder: Holder, turns: bool = False) -> Holder:
    """The holder with the number at which it is full, where that can be read.

    `turns`: where what it holds goes in its turn; a dict in which each of some keys stays does not count.
    """
    if holder.bound is not None or holder.way is None:
        return holder
    return holder._replace(bound=_owners_bound(holder.way) or _bound_in_source(holder, turns))


def may_be_bounded(holder: Holder, site: Site) -> bool:
    """Whether the program takes things out again somewhere, or what holds the collection has a bound itself."""
    if may_bound(holder.names, site.file, holder.owners):
        return True
    way = holder.way
    return way is not None and bounded_on(way) is not None


def renewed_on(way: Way) -> Iterator[Holder]:
    """The objects on a way that the program makes anew elsewhere: `self.episode = Episode()`. What they hold goes."""
    for at in range(1, len(way.steps)):
        holder = holder_at(Way(way.root, way.steps[:at]))
        if holder is None or not holder.owners or holder.inner is not None or not is_users(holder.module):
            continue
        file = file_of(sys.modules.get(holder.module))
        if file and is_renewed(holder.names[0], file, holder.owners):
            yield holder


def collection_on(way: Way) -> Optional[Way]:
    """The way to the collection that answers for the thing at the end of a way.

    That is the nearest one with a bound, since what it holds goes with its turn; where none has, the nearest of all.
    """
    bounded = bounded_on(way)
    return bounded.way if bounded is not None else next(collections_on(way), None)


def bounded_on(way: Way) -> Optional[Holder]:
    """The nearest collection on a way whose bound can be read, and from which things go in their turn."""
    for one in collections_on(way):
        found = holder_at(one)
        holder = with_bound(found, turns=True) if found is not None else None
        if holder is not None and holder.bound is not None:
            return holder
    return None


def collections_on(way: Way) -> Iterator[Way]:
    """The lists, dicts, sets, deques and function caches on a way, the nearest to its end first."""
    owners = owners_on(way)
    are = [_is_collection(before, thing) for before, thing in zip(owners, owners[1:])]
    del owners
    return (Way(way.root, way.steps[: at + 1]) for at in range(len(are) - 1, -1, -1) if are[at])


def _is_collection(owner: Any, thing: Any) -> bool:
    if is_function_cache(type(thing)):
        return True
    base = base_of(type(thing))
    if not any(base is one for one in _COLLECTIONS) or base.__len__(thing) < LEAST_LENGTH:  # type: ignore[attr-defined]
        return False
    return type(thing) is not dict or not (is_attributes_of(owner, thing) or dict.__contains__(thing, "__builtins__"))


def _measures(module: str, names: Sequence[str], owners: Sequence[str]) -> bool:
    """Whether the source of a library asks how long its collection is."""
    file = file_of(sys.modules.get(module))
    return file != "" and measures(names, file, owners)


# -- a number that its owner has: `queue.Queue(maxsize=100)`


def _owners_bound(way: Way) -> Optional[int]:
    """The size that an object of a library has, of which the collection is an attribute."""
    owners = owners_on(way)
    is_inner = len(owners) > 1 and is_attributes_of(owners[-2], owners[-1])
    owner = owners[-2] if is_inner else owners[-1] if owners else None
    if owner is None or issubclass(type(owner), (type, ModuleType)) or not _is_of_library(type(owner)):
        return None
    sizes = [value for name, value in list(attributes_of(owner).items()) if type(name) is str and SIZE_NAME.match(name)]
    del owners, owner
    return _believed(way, [size for size in sizes if type(size) is int])


def _is_of_library(kind: type) -> bool:
    """Whether a class, or one that it is derived from, is a library's: from a framework's one derives all kinds."""
    modules = [module_of(base) for base in bases_of(kind)]
    return any(module not in _EVERYONES and not is_users(module) and not is_framework(module) for module in modules)


def _believed(way: Way, numbers: List[int]) -> Optional[int]:
    """The least of these that the collection is not yet beyond."""
    length = length_at(way) or 0
    return min((one for one in numbers if 0 < one <= _MOST and length <= _MORE * one + _FEW), default=None)


# -- a number in the source


def _bound_in_source(holder: Holder, turns: bool) -> Optional[int]:
    """The number at which the program keeps it, as its source says."""
    file = file_of(sys.modules.get(holder.module))
    way = holder.way
    if not file or way is None or holder.inner is not None or not is_users(holder.module):
        return None
    limits = limits_of(holder.names[0], file, holder.owners, holder.function)
    limits = tuple(limit for limit in limits if limit.turns or not turns)
    if not limits:
        return None
    numbers = [limit.number(lambda name: _read(name, way, holder)) for limit in limits]
    return _believed(way, [number for number in numbers if number is not None])


def _read(name: Name, way: Way, holder: Holder) -> Optional[int]:
    """The number that a name stands for where a collection is; no code of the program's runs."""
    found = _first(name[0], way, holder)
    for attribute in name[1:]:
        found = _attribute(found, attribute)
    return int(found) if type(found) in (int, float) and abs(found) < 1 << 62 else None


def _first(name: str, way: Way, holder: Holder) -> Any:
    """What a name without dots stands for: an object on the way, a variable beside it, or a global one."""
    owners = owners_on(way)
    for owner in owners[::-1]:
        if name == "self" and class_named(type(owner)) in holder.owners[:1]:
            return owner
        for value in _variable(owner, name):
            return value
    if way.root.function:
        variables = way.root.namespace() or {}
        if name in variables:
            return variables[name]
    return attributes_of(sys.modules.get(holder.module)).get(name)


def _variable(owner: Any, name: str) -> List[Any]:
    """A variable of a closure or of a generator, in a list."""
    if type(owner) is FunctionType:
        names = owner.__code__.co_freevars
        cells = [cell for at, cell in enumerate(owner.__closure__ or ()) if names[at] == name]
        try:
            return [cell.cell_contents for cell in cells]
        except ValueError:  # it is not set
            return []
    pairs = frames.variables_of(owner) if is_suspended(type(owner)) else ()
    return [value for key, value in pairs if key == name]


def _attribute(thing: Any, name: str) -> Any:
    """An attribute as it stands in the object or in its class; no property is asked."""
    if thing is None:
        return None
    if not issubclass(type(thing), type):
        own = attributes_of(thing)
        if dict.__contains__(own, name):
            return dict.get(own, name)
    for base in bases_of(thing if issubclass(type(thing), type) else type(thing)):
        if name in names_of(base):
            found = names_of(base)[name]
            return found.__get__(thing) if type(found) is MEMBER else found
    return None
