"""Classes, asked past any metaclass and any property of their own: none of their code runs."""

from __future__ import annotations

import sys
from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Mapping, Tuple

from ..ledger.site import attributes_of

Ids = FrozenSet[int]
NO_IDS: Ids = frozenset()


def all_classes() -> List[type]:
    """Every class there is; none of their instances is asked."""
    found: Dict[int, type] = {id(object): object}
    below: List[type] = [object]
    while below:
        kind = below.pop()
        children: List[type] = type.__subclasses__(kind) if kind is not type else type.__subclasses__(type)
        new = [child for child in children if id(child) not in found]
        found.update((id(child), child) for child in new)
        below += new
    return list(found.values())


def with_children(kinds: Iterable[type]) -> List[type]:
    """These classes and all that are derived from them."""
    found: Dict[int, type] = {id(kind): kind for kind in kinds}
    below: List[Any] = list(found.values())
    while below:
        children: List[Any] = [child for child in type.__subclasses__(below.pop()) if id(child) not in found]
        found.update((id(child), child) for child in children)
        below += children
    return list(found.values())


def ids_of(kinds: Iterable[type]) -> Ids:
    """Classes as they are told apart here: no metaclass is asked to hash or to compare them."""
    return frozenset(map(id, kinds))


def bases_of(kind: type) -> Tuple[type, ...]:
    """A class and its bases, in the order in which they are asked."""
    return type.__dict__["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def names_of(kind: type) -> Mapping[str, Any]:
    """What stands in the body of a class."""
    return type.__dict__["__dict__"].__get__(kind)  # type: ignore[no-any-return]


def slot_of(kind: type, name: str) -> Any:
    """What a class or one of its bases has under a name; None where none has."""
    return next((names[name] for names in map(names_of, bases_of(kind)) if name in names), None)


def class_named(kind: type) -> str:
    """The name of a class."""
    return str(type.__dict__["__name__"].__get__(kind))


def module_of(kind: type) -> str:
    """Where a class says it was defined; empty where it says something that is no text."""
    try:
        found = type.__dict__["__module__"].__get__(kind)
    except AttributeError:  # its body has none
        return ""
    return found if type(found) is str else ""


def classes_in(modules: Iterable[str]) -> Iterator[type]:
    """The classes that are defined in some modules, and have a name there: those live as long as the module."""
    for module in modules:
        for name, kind in list(attributes_of(sys.modules.get(module)).items()):
            if issubclass(type(kind), type) and module_of(kind) == module and class_named(kind) == name:
                yield kind
