"""A way in words: `train.history (list, 4,312 items) → [0] → EagerTensor`."""

from __future__ import annotations

import re
import threading
from types import FunctionType, MethodType
from typing import Iterable, List, Tuple

from ..heap.classes import class_named, module_of
from ..ledger.site import is_framework
from ..model import UNKNOWN, Site
from ..units import count_of
from .roots import Root
from .search import Way, way_to
from .steps import CELL, Step, owners_on, steps_of

_MOST_TOLD = 50  # steps from either end of a way: what is longer is a chain
_REPEATED = re.compile(r"(\.\w+)\1\1+")  # a chain: `.next.next.next`
_NAMED = frozenset(map(id, (FunctionType, MethodType, CELL)))


def path_to(things: Iterable[int], seconds: float, near: Site = UNKNOWN) -> str:
    """`train.history (list, 4,312 items) → [0] → EagerTensor`, to one of the things with these ids.

    Nothing where none is found in this time.
    """
    way = way_to(things, seconds, near)
    return told(way) if way is not None else ""


def told(way: Way) -> str:
    """A way in words; nothing where it leads nowhere any more."""
    owners = owners_on(way)
    steps = steps_of(way, owners) if owners else []
    if not steps:
        return ""
    is_folded = [is_framework(module_of(type(owner))) for owner in owners]
    folder = _name_of_root(way.root)
    if way.root.ref is not None:
        parts, rest = [(folder, "")], steps
    else:
        parts, rest = [(folder + steps[0].key, _size(steps[0]))], steps[1:]
    first = len(steps) - len(rest)
    for index, step in enumerate(rest, first):
        if step.label is not None and index not in range(_MOST_TOLD, len(steps) - _MOST_TOLD):
            _add(parts, step.label, step, is_folded[index], index == len(steps) - 1)
    of = ""
    if way.root.function:
        near = (threading.get_ident(), threading.main_thread().ident)
        of = " of %s()%s" % (way.root.function, "" if way.root.thread in near else " in a thread")
    parts[0] = (parts[0][0] + of, parts[0][1])
    kind = class_named(steps[-1].kind)
    parts = [(_REPEATED.sub(r"\1…", label), size) for label, size in parts]
    words = [label + (" (%s)" % size if size and size != kind else "") for label, size in parts]
    return " → ".join([*words, kind])


def _name_of_root(root: Root) -> str:
    kind = root.ref() if root.ref is not None else None
    if root.function:
        return ""
    short = "" if root.module == "__main__" else root.module.rsplit(".", 1)[-1] + "."
    return short + class_named(kind) if kind is not None else short


def _add(parts: List[Tuple[str, str]], label: str, step: Step, is_folded: bool, is_last: bool) -> None:
    """One more step; an attribute is written behind what it is one of, and TensorFlow's own are one."""
    before, _ = parts[-1]
    if is_folded:
        if before != "…" and not is_last:
            parts.append(("…", ""))
    elif label.startswith(".") and before != "…":
        parts[-1] = (before + label, _size(step))
    elif label:
        parts.append((label.lstrip("."), _size(step)))


def _size(step: Step) -> str:
    if step.length is not None:
        return "%s, %s item%s" % (class_named(step.kind), count_of(step.length), "" if step.length == 1 else "s")
    is_named = id(step.kind) in _NAMED or issubclass(step.kind, type)
    return "" if is_named else class_named(step.kind)
