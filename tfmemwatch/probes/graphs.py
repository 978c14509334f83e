"""Graphs that stay alive, and operations added to a graph after a session has already run it."""

from __future__ import annotations

import sys
import weakref
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..ledger import site
from ..ledger.counts import site_of
from ..model import UNKNOWN, Site
from ..safety import guard
from ..seams import graphs, places
from .scene import Probe, Scene

_LAZILY = ("get_default", "_GetGlobalDefaultGraph")  # make TensorFlow's own graph, when it is first asked for
_MOST_SITES = 1000  # lines remembered for one graph
_MOST_LINES = 24  # new operations whose line is asked for in one reading of one graph; the rest share their lines
_OPERATION_BYTES = 1500  # a small operation with its Python side, as measured


class _Ran:
    """A graph that a session has run, and how many operations have been looked at."""

    __slots__ = ("imported", "ref", "seen", "version")

    def __init__(self, graph: Any, died: Callable[[Any], Any]) -> None:
        self.ref = weakref.ref(graph, died)
        self.version = graph.version
        self.seen = len(graph.get_operations())
        self.imported = UNKNOWN  # the line of the last import_graph_def: what it adds knows no line


class Graphs(Probe):
    """Sees graphs being made; their operations are read when sampling, for the line is kept with each."""

    name = "graphs"
    watches = "live graphs by line; operations and constants added after the first run, by line"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._ran: Dict[int, _Ran] = {}  # by id; each leaves when its graph dies
        self._added: Dict[int, Dict[Site, List[int]]] = {}  # operations and bytes by line; they go when the graph goes
        self._ran_ids = scene.runs.seen
        self._looked = self._counted = 0

    def install(self) -> None:
        self._func_graph = places.find("func_graph").value
        self.after_method("graph", self._made, always=True)
        self.scene.runs.first = self._first_run
        self.scene.runs.share(self)
        if places.has("session_callable"):
            self.after("session_callable", self._callable, always=True)
        if places.has("imported_operations"):
            self.after("imported_operations", self._imported)

    def start_afresh(self) -> None:
        self._ran.clear()
        self._added.clear()
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
        if ran is not None and self.scene.rank_for("graph_op") > 1:
            ran.imported = site_of(self.scene.where("imported")[0])

    def _first_run(self, graph: Any) -> None:
        try:
            self._ran[id(graph)] = _Ran(graph, partial(self._ran.pop, id(graph)))
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
        for ran in list(self._ran.values()):
            graph = ran.ref()
            if graph is not None and graph.version != ran.version:
                self._look_at(graph, ran)
        for key in [key for key in list(self._ran_ids) if key not in self._ran]:
            self._forget(key)

    def operations(self) -> int:
        """How many there are in the graphs that sessions have run, as of the last look."""
        return sum(ran.seen for ran in list(self._ran.values()) if ran.ref() is not None)

    def _forget(self, key: int) -> None:
        """A graph has gone; also called when another one has been given its id."""
        self._ran_ids.discard(key)
        self._ran.pop(key, None)
        for at, (times, size) in self._added.pop(key, {}).items():
            self.scene.ledger.undone("graph_op", at, times, size)

    def _look_at(self, graph: Any, ran: _Ran) -> None:
        ran.version = graph.version
        with graphs.operations_of(graph) as operations:
            if operations:
                self._count(graph, ran, operations)

    def _count(self, graph: Any, ran: _Ran, operations: List[Any]) -> None:
        new = operations[ran.seen :]
        ran.seen = len(operations)
        rank = self.scene.rank_for("graph_op")
        if not new or not rank:
            return
        looked = new if len(new) <= _MOST_LINES else new[:: len(new) // _MOST_LINES + 1]
        share = len(new) / len(looked)
        counts: Dict[Site, List[float]] = {}
        for operation in looked:
            at = (line_of(operation) or ran.imported) if rank > 1 else UNKNOWN
            found = counts.setdefault(at, [0.0, 0.0])
            found[0] += share
            found[1] += share * _OPERATION_BYTES + graphs.constant_bytes(operation)
        added = self._added.setdefault(id(graph), {})
        for at, (times, size) in counts.items():
            whole = max(1, round(times))
            self.scene.ledger.happened("graph_op", at, whole, int(size))
            entry = added.setdefault(at, [0, 0]) if len(added) < _MOST_SITES else [0, 0]
            entry[0] += whole
            entry[1] += int(size)


def line_of(operation: Any) -> Optional[Site]:
    """The user's line that added an operation; None for one that came with an imported graph."""
    frames = graphs.lines_of(operation)
    return site.of_traceback([_row(frame) for frame in frames]) if frames else None


def _row(frame: Any) -> Tuple[str, int, str]:
    if isinstance(frame, tuple):
        return frame[0], frame[1], frame[2]
    return frame.filename, frame.lineno, frame.name
