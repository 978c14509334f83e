"""Variables: made where, alive, how large; and whether their names keep on being new."""

from __future__ import annotations

from typing import Any, Set, Tuple

from ..seams import graphs, places
from .scene import Probe, Scene

_MOST_NAMES = 20000


class Variables(Probe):
    """Sees the one constructor that all resource variables go through, in any thread."""

    name = "variables"
    watches = "live variables and their bytes, by line; new variable names (each leaves a cached kernel)"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._names: Set[int] = set()
        self._names_cost = False

    def install(self) -> None:
        self._unread = places.find("unread_variable").value
        self._eagerly = places.find("executing_eagerly").value
        self._names_cost = graphs.op_has_attribute("VarHandleOp", "debug_name")
        for what in _constructors():
            self.after_method(what, self._made)
        if places.has("ref_variable"):
            self.after_method("ref_variable", self._made_ref)

    def start_afresh(self) -> None:
        self._names = set()

    def _made(self, variable: Any) -> None:
        if type(variable) is self._unread:
            return
        name = variable._handle_name
        if "/replica_" in name:  # the copies of a distributed variable are counted as the one that was asked for
            return
        if variable._in_graph_mode:
            self.scene.born("graph_variable", variable, _size)
            return
        self.scene.born("variable", variable, _size, "", False, True)
        if self._names_cost and hash(name) not in self._names:
            self._named(name)

    def _made_ref(self, variable: Any) -> None:
        self.scene.born("graph_variable", variable, _size)

    def _named(self, name: str) -> None:
        """Each variable name that was never seen before leaves a kernel in the eager context."""
        if len(self._names) < _MOST_NAMES:
            self._names.add(hash(name))
            self.scene.happened("name")


def _constructors() -> Tuple[str, ...]:
    """Where variables are made. A deprecated one names its caller in a warning: that must not be us."""
    if hasattr(places.find("variable").value, "_tf_decorator"):
        return ("resource_variable", "uninitialized_variable")
    return ("variable",)


def _size(variable: Any) -> int:
    return int(variable.shape.num_elements()) * int(variable.dtype.size)
