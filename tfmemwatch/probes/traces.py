"""Every trace of every tf.function: by line, first or again, what it took and what it left."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from types import FrameType
from typing import Any, Callable, Dict, MutableMapping, NamedTuple, Optional, Tuple

from .. import guard, site, tfapi
from ..model import UNKNOWN, Site
from ..patch import Patch
from .scene import Probe, Scene

_OWNERS = ("polymorphic_function.py", "def_function.py")
_LIFTED = "initialize_variables"  # what TensorFlow itself traces when a tf.function has made variables
_DATASETS = ("structured_function.py", "dataset_ops.py")


class _Begin(NamedTuple):
    """What is known before a trace runs."""

    kind: str  # the kind of graph that will live on: function_graph or dataset_graph
    site: Site
    stack: Tuple[Site, ...]
    owner: Any
    name: str
    seconds: float
    resident: int  # not malloc's own count: that takes longer the more it has freed


class _Depth(threading.local):
    depth = 0  # of traces on this thread


class Traces(Probe):
    """Sees `func_graph_from_py_func`; the bodies of cond and while belong to the trace around them."""

    name = "traces"
    watches = "traces of tf.function, by function and line; live functions and graphs"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._local = _Depth()
        self._traces: MutableMapping[Any, int] = weakref.WeakKeyDictionary()  # by Function, hashed by identity

    def install(self) -> None:
        self._detectors = tfapi.find("tracing_detectors").value if tfapi.has("tracing_detectors") else None
        self._plain_graph = tfapi.find("func_graph").value
        self.wrap("trace", self._trace)

    def start_afresh(self) -> None:
        self._local.depth = 0
        self._traces = weakref.WeakKeyDictionary()

    def _trace(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        local, scene = self._local, self.scene

        def trace(*args: Any, **kwargs: Any) -> Any:
            depth = local.depth
            begin = None if depth or not (patch.is_live and scene.rank) else self._begin(args, kwargs)
            local.depth = depth + 1
            try:
                graph = original(*args, **kwargs)
            finally:
                local.depth = depth
            if begin is not None:
                try:
                    self._end(begin, graph)
                except Exception:
                    guard.failed("traces")
            return graph

        return trace

    def _begin(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Optional[_Begin]:
        """What a trace is about to be of; nothing for the branch of a cond."""
        try:
            given = kwargs.get("func_graph", args[5] if len(args) > 5 else None)
            if given is not None and type(given) is not self._plain_graph:
                return None
            if args and args[0] == _LIFTED:
                return None
            at, stack, owner, of_dataset = self._caller(sys._getframe(1))
            name = str(args[0] if args else kwargs.get("name", ""))
            kind = "dataset_graph" if of_dataset else "function_graph"
            return _Begin(kind, at, stack, owner, name, time.perf_counter(), self.scene.process.resident_bytes() or 0)
        except Exception:
            guard.failed("traces")
            return None

    def _caller(self, frame: FrameType) -> Tuple[Site, Tuple[Site, ...], Any, bool]:
        """The user's line, the tf.function that is traced, and whether it is one of a dataset."""
        owner, of_dataset = None, False
        user = site.user_frame(frame)
        at: Optional[FrameType] = frame
        while at is not None and at is not user:
            file = at.f_code.co_filename
            if owner is None and file.endswith(_OWNERS):
                owner = at.f_locals.get("self")
            of_dataset = of_dataset or file.endswith(_DATASETS)
            at = at.f_back
        if user is None or self.scene.rank < 2:
            return UNKNOWN, (), owner, of_dataset
        return site.of_frame(user), (site.stack(user) if self.scene.rank > 2 else ()), owner, of_dataset

    def _end(self, begin: _Begin, graph: Any) -> None:
        seconds = time.perf_counter() - begin.seconds
        grown = max(0, (self.scene.process.resident_bytes() or 0) - begin.resident)
        ledger = self.scene.ledger
        again = self._count(begin.owner)
        firsts = 2 if getattr(begin.owner, "_created_variables", None) else 1  # its first call traces it twice
        kind = "retrace" if again >= firsts else "trace"
        ledger.happened(kind, begin.site, 1, grown, seconds, begin.name, begin.stack)
        calls = tfapi.calls_since_trace(self._detectors, begin.owner)
        if calls:
            ledger.happened("call", begin.site, calls)
        if again == 0 and begin.owner is not None:
            ledger.born("function", begin.site, begin.owner, note=begin.name)
        ledger.born(begin.kind, begin.site, graph, note=begin.name, stack=begin.stack)

    def _count(self, owner: Any) -> int:
        """How many traces this function has had before."""
        if owner is None:
            return 0
        before = self._traces.get(owner, 0)
        self._traces[owner] = before + 1
        return before
