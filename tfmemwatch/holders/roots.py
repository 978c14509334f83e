"""Where a search begins: the namespaces of the program, of its libraries, and of frameworks."""

from __future__ import annotations

import sys
import weakref
from typing import Any, List, NamedTuple, Optional

from ..heap import frames
from ..heap.classes import classes_in, module_of
from ..heap.modules import of_all_modules
from ..ledger.site import attributes_of, file_of, is_framework, is_users


class Root(NamedTuple):
    """A namespace of the program's: that of a module, of a class, or the variables of a function that runs."""

    module: str
    ref: Any = None  # of a class, weak
    function: str = ""
    thread: int = 0

    def namespace(self, only: Optional[int] = None) -> Any:
        """The names and what they stand for, as they are now; None where it has gone. Let go of it soon.

        Of the variables of a function only those that stand for the thing with this id.
        """
        if self.ref is not None:
            return self.ref()
        if not self.function:
            return attributes_of(sys.modules.get(self.module)) or None
        for one in frames.running():
            if (one.module, one.function, one.thread) == (self.module, self.function, self.thread):
                return {name: value for name, value in one.variables if only is None or id(value) == only}
        return None


def mine(near: str = "") -> List[Root]:
    """The program's own modules and classes; those of one file first."""
    modules = _users_modules()
    if near:
        modules = sorted(modules, key=lambda name: file_of(sys.modules.get(name)) != near)
    return [Root(name) for name in modules] + [Root(module_of(kind), weakref.ref(kind)) for kind in classes_in(modules)]


@of_all_modules
def _users_modules() -> List[str]:
    return [name for name in list(sys.modules) if is_users(name)]


def of_file(file: str) -> List[Root]:
    """The modules of one file: where a thing was made is where it is held, as like as not."""
    return [Root(name) for name, module in list(sys.modules.items()) if file and file_of(module) == file]


def libraries() -> List[Root]:
    """The modules of what the program uses, but TensorFlow's."""
    return [Root(name) for name in list(sys.modules) if not is_users(name) and not is_framework(name)]


def finalizers() -> List[Root]:
    """What is to be called when objects end: a bound method there keeps its object, so that it never does."""
    return [Root("weakref", weakref.ref(weakref.finalize))]


def frameworks() -> List[Root]:
    """TensorFlow's modules, and Keras's."""
    names = [name for name in list(sys.modules) if is_framework(name)]
    return [Root(name) for name in names if name.split(".")[0] != "tfmemwatch"]
