"""Of what kind the items of a collection are, where the cure depends on it."""

from __future__ import annotations

import functools
import logging
from types import BuiltinMethodType, FunctionType, MethodType

from ..heap.classes import bases_of, class_named, module_of
from ..heap.parts import kind_at
from ..heap.shapes import base_of
from ..heap.weights import kind_of_newest
from .search import Way

_FUNCTIONS = (FunctionType, MethodType, BuiltinMethodType, functools.partial)


def items_at(way: Way) -> str:
    """`tasks`, `exceptions`, `records`, `callbacks`, `threads`; nothing for all else. No item is held."""
    namespace = way.root.namespace(way.steps[0])
    kind = kind_at(namespace, way.steps) if namespace is not None else None
    if kind is None or base_of(kind) is object:
        return ""
    item = kind_of_newest(namespace, way.steps, base_of(kind))
    return "" if item is None else _called(item)


def _called(item: type) -> str:
    bases = bases_of(item)
    if BaseException in bases:
        return "exceptions"
    if logging.LogRecord in bases:
        return "records"
    if any(item is one for one in _FUNCTIONS):
        return "callbacks"
    for base in bases:
        name, module = class_named(base), module_of(base).split(".")[0]
        if name == "Future" and module in ("asyncio", "_asyncio", "concurrent"):
            return "tasks"
        if name == "Thread" and module == "threading":
            return "threads"
    return ""
