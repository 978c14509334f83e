"""What stands at each step of a way, and how one writes it."""

from __future__ import annotations

import collections
import functools
from types import FrameType, FunctionType, MethodType
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..heap import frames
from ..heap.classes import bases_of, class_named, names_of, slot_of
from ..heap.parts import index_of, key_of, kind_and_length, kind_at, length_of, part_of
from ..heap.shapes import base_of
from ..ledger.site import attributes_of, is_a_name
from .roots import Root
from .search import Way

LEAST_LENGTH = 3  # of a collection
CELL = type((lambda x: lambda: x)(0).__closure__[0])  # type: ignore[index]
COLLECTIONS = (list, tuple, set, frozenset, collections.deque)
MEMBER = type(FunctionType.__globals__)


class Step(NamedTuple):
    """How one gets from one thing to the next."""

    kind: type  # of the thing that one gets to
    length: Optional[int]  # where it is a collection
    label: Optional[str]  # as one would write it; None where it is an object's own dict of attributes
    key: str  # under which name, where it has one: an attribute, a key, a variable
    is_attribute: bool  # whether that is the name of an attribute of the thing before


def owners_on(way: Way) -> List[Any]:
    """The namespace and all things on a way but the last; nothing where one of them has gone."""
    namespace = way.root.namespace(way.steps[0])
    if namespace is None:
        return []
    owners = [namespace]
    for thing in way.steps[:-1]:
        found = part_of(owners[-1], thing)
        if not found:
            return []
        owners += found
    return owners


def steps_of(way: Way, owners: List[Any]) -> List[Step]:
    """What each step of a way is called."""
    found = []
    for index, owner in enumerate(owners):
        wanted = way.steps[index]
        before = owners[index - 1] if index else None
        kind, length = kind_and_length(owner, wanted)
        label, key, is_attribute = _called(owner, before, wanted, way.root if not index else None)
        if index + 1 < len(owners) and is_attributes_of(owner, owners[index + 1]):
            label = None
        found.append(Step(kind, length, label, key, is_attribute))
    return found


def is_attributes_of(owner: Any, thing: Any) -> bool:
    """Whether a dict is where an object keeps its attributes, or a class its own, or a module its names."""
    if type(thing) is not dict:
        return False
    if issubclass(type(owner), type):
        return True
    return attributes_of(owner) is thing


def _called(owner: Any, before: Any, wanted: int, root: Optional[Root]) -> Tuple[Optional[str], str, bool]:
    """How one writes the step from a thing to one of its parts; the bare name, if it has one; whether an attribute."""
    kind = type(owner)
    if root is not None and root.ref is None:
        name = _text_key(owner, wanted)
        return name, name, False
    if issubclass(kind, dict):
        keys = key_of(owner, wanted)
        if before is not None and is_attributes_of(before, owner):
            name = keys[0] if keys and type(keys[0]) is str else ""
            return "." + (name or "…"), name, True
        return _key(keys)
    if issubclass(kind, tuple):
        fields = slot_of(kind, "_fields")
        at = index_of(owner, tuple, wanted)
        if type(fields) is tuple and at is not None and at < len(fields):
            return "." + str(fields[at]), str(fields[at]), True
        if before is not None and type(before) is FunctionType:
            return _of_function(before, owner, wanted)
    base = next((one for one in COLLECTIONS if issubclass(kind, one)), None)
    if base in (set, frozenset):
        return "an item", "", False
    if base is not None:
        at = index_of(owner, base, wanted)
        return None if at is None else "[%d]" % at, "", False
    if kind is FunctionType:
        return ("its defaults" if _is_default(owner, wanted) else None), "", False
    if kind is MethodType:
        return ".__self__", "", False
    if kind is functools.partial:
        return "its arguments", "", False
    if kind is CELL:
        return "", "", False
    if class_named(kind) == "_lru_cache_wrapper":
        return "its cache", "", False
    if is_suspended(kind) or kind is FrameType:
        variables = frames.variables_of(owner) if kind is not FrameType else frames.variables(owner)
        name = next((name for name, value in variables if id(value) == wanted), "")
        return name or None, name, False
    name = attribute_named(owner, wanted)
    return ("." + name, name, True) if name else (None, "", False)


def is_suspended(kind: type) -> bool:
    return any(kind is one for one in frames.SUSPENDED)


def _text_key(names: Dict[Any, Any], wanted: int) -> str:
    keys = key_of(names, wanted)
    return keys[0] if keys and type(keys[0]) is str else ""


def _key(keys: List[Any]) -> Tuple[Optional[str], str, bool]:
    if not keys:
        return "a key", "", False
    key = keys[0]
    if type(key) is str:
        return ('["%s"]' % key if is_a_name(key) else "[…]"), key, False
    return ("[%d]" % key if type(key) is int else "[%s]" % class_named(type(key))), "", False


def _is_default(function: Any, wanted: int) -> bool:
    return wanted in (id(function.__defaults__), id(function.__kwdefaults__))


def _of_function(function: Any, owner: Tuple[Any, ...], wanted: int) -> Tuple[Optional[str], str, bool]:
    """A cell of a closure, or a default value."""
    at = index_of(owner, tuple, wanted)
    if at is not None and owner is function.__closure__:
        name = function.__code__.co_freevars[at]
        return "closure `%s`" % name, name, False
    return "[%s]" % at, "", False


def attribute_named(owner: Any, wanted: int) -> str:
    """Under what name an object has the thing with this id: in its dict, or in a slot."""
    attributes = attributes_of(owner)
    if attributes:
        name = _text_key(attributes, wanted)
        if name:
            return name
    for base in bases_of(type(owner)):
        for name, member in list(names_of(base).items()):
            if type(member) is MEMBER and name != "__dict__":
                try:
                    if id(member.__get__(owner)) == wanted:
                        return str(name)
                except AttributeError:  # an empty slot
                    continue
    return ""


def length_at(way: Way) -> Optional[int]:
    """How long the collection at the end of a way is; None where it is there no more."""
    namespace = way.root.namespace(way.steps[0])
    kind = kind_at(namespace, way.steps) if namespace is not None else None
    if kind is None or base_of(kind) is object:
        return None
    return length_of(namespace, way.steps, base_of(kind))


def owner_at(way: Way) -> int:
    """The id of the object or dict that has what stands at the end of a way, not that of its dict of attributes."""
    owners = [hash(way.root), *way.steps[:-1]]
    things = owners_on(way)
    is_inner = len(things) > 1 and is_attributes_of(things[-2], things[-1])
    return owners[-2] if is_inner else owners[-1]
