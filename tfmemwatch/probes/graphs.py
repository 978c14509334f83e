"""Graphs that stay alive, and operations added to a graph after a session has already run it."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Dict, List, Optional, Tuple

from .. import guard, site, tfapi
from ..ledger import site_of
from ..model import UNKNOWN, Site
from .scene import Probe, Scene

_LAZILY = ("get_default", "_GetGlobalDefaultGraph")  # make TensorFlow's own graph, when it is first asked for
_MOST_SITES = 1000  # lines remembered for one graph
_MOST_LINES = 24  # new operations whose line is asked for in one reading of one graph; the rest share their lines
_OPERATION_BYTES = 1500  # a small operation with its Python side, as measured


class _Ran:
    """A graph that a session has run, and how many operations have been looked at."""

    __slots__ = ("added", "imported", "ref", "seen", "version")

    def __init__(self, graph: Any) -> None:
        self.ref = weakref.ref(graph)
        self.version = graph.version
        self.seen = len(graph.get_operations())
        self.imported = UNKNOWN  # the line of the last import_graph_def: what it adds knows no line
        self.added: Dict[Site, List[int]] = {}  # operations and bytes by line; they go when the graph goes


class Graphs(Probe):
    """Sees graphs being made; their operations are read when sampling, for the line is kept with each."""

    name = "graphs"
    watches = "live graphs by line; operations added after the first run, and the constants baked in, by line"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._ran: Dict[int, _Ran] = {}
        self._ran_ids = scene.runs.seen
        self._looked = self._counted = 0

    def install(self) -> None:
        self._func_graph = tfapi.find("func_graph").value
        self.after_method("graph", self._made, always=True)
        self.scene.runs.first = self._first_run
        self.scene.runs.share(self)
        if tfapi.has("session_callable"):
            self.after("session_callable", self._callable, always=True)
        if tfapi.has("imported_operations"):
            self.after("imported_operations", self._imported)

    def start_afresh(self) -> None:
        self._ran.clear()
        self._ran_ids.clear()

    def _made(self, graph: Any) -> None:
        if not isinstance(graph, self._func_graph):
            self._forget(id(graph))
            if sys._getframe(2).f_code.co_name not in _LAZILY:
                self.scene.born("graph", graph)

    def _callable(self, result: Any, session: Any, *args: Any, **kwargs: Any) -> None:
        if id(session._graph) not in self._ran_ids:
            self._first_run(session._graph)

    def _imported(self, result: Any, graph: Any) -> None:
        ran = self._ran.get(id(graph))
        if ran is not None and self.scene.rank > 1:
            ran.imported = site_of(self.scene.where("imported")[0])

    def _first_run(self, graph: Any) -> None:
        try:
            self._ran[id(graph)] = _Ran(graph)
            self._ran_ids.add(id(graph))
        except Exception:
            guard.failed("graphs: run")

    def read(self) -> None:
        # A count in C that threads can share: to read it is to advance it, which is taken off again.
        runs = next(self.scene.runs.count) - self._looked
        self._looked += 1
        if runs > self._counted and self.scene.rank:
            self.scene.ledger.happened("run", UNKNOWN, runs - self._counted)
            self._counted = runs
        for key, ran in list(self._ran.items()):
            graph = ran.ref()
            if graph is None:
                self._forget(key)
            elif graph.version != ran.version:
                self._added(graph, ran)

    def operations(self) -> int:
        """How many there are in the graphs that sessions have run, as of the last look."""
        return sum(ran.seen for ran in list(self._ran.values()) if ran.ref() is not None)

    def _forget(self, key: int) -> None:
        """A graph has gone; also called when another one has been given its id."""
        self._ran_ids.discard(key)
        ran = self._ran.pop(key, None)
        if ran is None:
            return
        for at, (times, size) in ran.added.items():
            self.scene.ledger.undone("graph_op", at, times, size)

    def _added(self, graph: Any, ran: _Ran) -> None:
        ran.version = graph.version
        operations = graph.get_operations()
        new = operations[ran.seen :]
        ran.seen = len(operations)
        rank = self.scene.rank
        if not new or not rank:
            return
        looked = new if len(new) <= _MOST_LINES else new[:: len(new) // _MOST_LINES + 1]
        share = len(new) / len(looked)
        counts: Dict[Site, List[float]] = {}
        for operation in looked:
            at = (line_of(operation) or ran.imported) if rank > 1 else UNKNOWN
            found = counts.setdefault(at, [0.0, 0.0])
            found[0] += share
            found[1] += share * _OPERATION_BYTES + _constant_bytes(operation)
        for at, (times, size) in counts.items():
            whole = max(1, round(times))
            self.scene.ledger.happened("graph_op", at, whole, int(size))
            entry = ran.added.setdefault(at, [0, 0]) if len(ran.added) < _MOST_SITES else [0, 0]
            entry[0] += whole
            entry[1] += int(size)


def line_of(operation: Any) -> Optional[Site]:
    """The user's line that added an operation; None for one that came with an imported graph."""
    frames = operation.traceback
    return site.of_traceback([_row(frame) for frame in frames]) if frames else None


def _row(frame: Any) -> Tuple[str, int, str]:
    if isinstance(frame, tuple):
        return frame[0], frame[1], frame[2]
    return frame.filename, frame.lineno, frame.name


def _constant_bytes(operation: Any) -> int:
    if operation.type != "Const":
        return 0
    value = operation.outputs[0]
    return int(value.shape.num_elements() or 0) * int(value.dtype.size or 0)
