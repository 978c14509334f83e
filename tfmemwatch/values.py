"""Large plain values that the program has by a name: arrays, text, bytes.

What is made anew with more in it each time is no collection, and no census of lengths sees it grow.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import frames
from .census import everything, size_of_thing, types_alive
from .site import attributes_of, is_users

_LARGE_BYTES = 1 << 16
_MOST_OWNERS = 20000
_MOST_NAMES = 2000  # of one of them
_PLAIN = frozenset("ndarray str bytes bytearray array BytesIO StringIO".split())
_Namespace = Tuple[int, str, Dict[str, Any]]  # what tells it from others, how it is called, and its names


class Value(NamedTuple):
    """A large value; it is not held."""

    name: str
    path: str  # as one would say it
    bytes: int


Values = Dict[Tuple[int, str], Value]


def large() -> Values:
    """Those that the program's own modules, objects and running functions have, and dicts of theirs."""
    found = {}
    for key, path, names in _namespaces():
        for name, value in _items(names):
            size = int(size_of_thing(value)) if type(value).__name__ in _PLAIN and type(name) is str else 0
            if size >= _LARGE_BYTES:
                found[key, name] = Value(name, "%s%s" % (path, name), size)
    return found


def grown(before: Values, after: Values, least: float) -> Optional[Value]:
    """The one that has grown most, by so many bytes or more."""
    rows = [(value.bytes - (before[key].bytes if key in before else 0), value) for key, value in after.items()]
    most, value = max(rows, key=lambda row: row[0], default=(0, None))
    return value if most >= least else None


def _namespaces() -> List[_Namespace]:
    found: List[_Namespace] = []
    for module, one in list(sys.modules.items()):
        if is_users(module):
            found.append((id(one), module + ".", attributes_of(one)))
    for thing in everything({kind for kind in types_alive() if is_users(kind.__module__)})[:_MOST_OWNERS]:
        found.append((id(thing), type(thing).__name__ + ".", attributes_of(thing)))
    for function in frames.running():
        found.append((hash((function.module, function.function)), "", dict(function.variables)))
    found += [(id(inner), path, inner) for _, path, names in found for _, inner in _items(names)
              if type(inner) is dict and "__builtins__" not in inner]  # fmt: skip
    return found


def _items(names: Dict[str, Any]) -> List[Tuple[str, Any]]:
    """What has a name; of what has thousands of keys, and may change meanwhile, nothing: those are no names."""
    try:
        return list(names.items()) if len(names) <= _MOST_NAMES else []
    except RuntimeError:  # another thread has added one
        return []
