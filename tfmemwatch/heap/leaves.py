"""Where a search ends: classes whose things hold nothing that one would look for, or everything."""

from __future__ import annotations

import sys
import weakref
from itertools import chain
from types import BuiltinFunctionType, CodeType, GetSetDescriptorType, MappingProxyType
from typing import Any, List

from ..ledger.site import FRAMEWORKS, attributes_of
from .classes import Ids, classes_in, ids_of, with_children
from .modules import of_all_modules
from .shapes import base_of, known_shapes

PLAIN = (
    int, float, complex, bool, str, bytes, bytearray, type(None), type(NotImplemented), type(...), range, slice,
    BuiltinFunctionType, CodeType, type(sys.implementation), MappingProxyType, GetSetDescriptorType,
)  # fmt: skip


def leaves() -> Ids:
    """Classes whose things hold nothing that one would look for, or everything: classes, weak references, ours."""
    return ids_of(chain(PLAIN, with_children((type, weakref.ReferenceType)))) | _own()


@of_all_modules
def _own() -> Ids:
    return ids_of(classes_in(name for name in list(sys.modules) if name.split(".")[0] == "tfmemwatch"))


def framework_leaves() -> Ids:
    """Those, and the classes of frameworks: a search that does not enter their objects comes further elsewhere."""
    return leaves() | _of_frameworks()


@of_all_modules
def _of_frameworks() -> Ids:
    names = [name for name in list(sys.modules) if name.split(".")[0] in FRAMEWORKS]
    return ids_of(kind for kind in classes_in(names) if base_of(kind) is object)


def know_classes() -> None:
    """Find out what a search must know of the classes that there are."""
    framework_leaves()
    known_shapes()


@of_all_modules
def ids_of_modules() -> List[int]:
    """The ids of all modules and of their dicts."""
    modules: List[Any] = list(sys.modules.values())
    return [one for module in modules for one in (id(module), id(attributes_of(module)))]
