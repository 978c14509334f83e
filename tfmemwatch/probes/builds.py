"""Builds behind a trace: what XLA compiles of a tf.function with jit_compile, once for each concrete shape."""

from __future__ import annotations

import functools
import re
import time
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ..explain import arguments
from ..explain.advice import advice
from ..explain.arguments import Trace
from ..explain.padding import buckets
from ..explain.reasons import Reasons, TraceHistory, why
from ..explain.signatures import Node, Signature
from ..model import Finding
from ..safety import guard
from ..safety.tracebacks import without_us
from ..seams import functions, places, tensors
from .scene import Probe, Scene

_LEAST_BYTES = 20000  # that a call has kept which is taken for a build, where XLA compiles only what it calls
_MOST_SHAPES = 20000  # of one trace; an executable of each weighs thousands of times as much as its key
_BACKWARD = re.compile(r"__backward_(.+)_\d+$")
_Shapes = Tuple[Optional[Tuple[int, ...]], ...]


class _Built(NamedTuple):
    """One trace that XLA compiles, and the shapes for which it has."""

    ref: Any  # weak; its end takes this entry away
    name: str
    inputs: Tuple[Tuple[str, str], ...]  # name and dtype of each, where they can be told
    is_open: bool  # whether there can be more than one build of it
    shapes: Set[int]  # their hashes
    history: TraceHistory
    is_around: bool  # XLA compiles not all of it, but functions that it calls


class Builds(Probe):
    """Sees the calls of traces that XLA compiles, by a class of their own; every other trace stays as it was made."""

    name = "builds"
    watches = "executables that XLA builds for tf.functions with jit_compile, by line, with seconds and bytes"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._known: Dict[int, _Built] = {}  # by id(concrete function)
        self._around: Dict[int, Any] = {}  # graphs into which a compiled function was traced: weak references, by id
        self._kind: Any = None
        self.reasons = Reasons()
        guard.spent.setdefault("builds", 0.0)

    def install(self) -> None:
        self._plain = places.find("compiled_trace").holder
        self._kind = self._watched(self._plain)
        self.after_method("compiled_trace", self._made)

    def uninstall(self) -> None:
        super().uninstall()
        for built in list(self._known.values()):
            concrete = built.ref()
            if concrete is not None:
                self._let_go(concrete)
        self._known.clear()
        self._around.clear()
        self._kind = None

    def start_afresh(self) -> None:
        self.reasons.start_afresh()

    def read(self) -> None:
        """Compare the shapes that came since the last look."""
        self.reasons.compare_waiting()

    def explained(self, finding: Finding) -> Finding:
        """Which argument's shape is ever new, and the sizes to which it could be padded."""
        account = self.reasons.account(finding.site) if finding.kind == "cache" and not finding.why else None
        if account is None or finding.cause != advice("executable", account.function).cause:
            return finding
        text, examples, differs = why(account, "build")
        padded = buckets(list(account.history.asked.values()))
        found = finding._replace(why=text, examples=examples, differs=differs)
        return found if padded is None else found._replace(suggestion=padded.code, short=padded.short)

    def _made(self, concrete: Any) -> None:
        if type(concrete) is not self._plain:
            return
        is_around = id(functions.graph_of_trace(concrete)) in self._around
        if not is_around and not functions.is_compiled_trace(concrete):
            return
        known, key = self._known, id(concrete)
        inputs = functions.inputs_of_trace(concrete)
        name = functions.name_of_trace(concrete)
        backward = _BACKWARD.match(name)
        if backward is not None:
            name = "the gradient of " + backward.group(1)
        named = _named(concrete, inputs) if backward is None else ()
        built = _Built(
            weakref.ref(concrete, lambda ref: known.pop(key, None)), name, named,
            any(shape is None or None in shape for _, _, shape in inputs), set(),
            TraceHistory(functions.Traced(name, (), False, ("", 0), (), "")),
            is_around and not functions.is_compiled_trace(concrete),
        )  # fmt: skip
        known[key] = built
        concrete.__class__ = self._kind

    def _traced_into(self, graph: Any) -> None:
        """A function that calls a compiled one has it built for each new shape too."""
        for one in functions.graphs_around(graph):
            self._around[id(one)] = weakref.ref(one, functools.partial(self._forget_graph, id(one)))

    def _forget_graph(self, key: int, ref: Any) -> None:
        """In a weakref callback: one atomic step, for a graph that is still the one it was."""
        if self._around.get(key) is ref:
            self._around.pop(key, None)

    def _let_go(self, concrete: Any) -> None:
        """As it was made."""
        if type(concrete).__dict__.get("_call_flat") is not None and type(concrete) is not self._plain:
            concrete.__class__ = self._plain
        self._known.pop(id(concrete), None)

    def _watched(self, plain: Any) -> Any:
        """The class of a trace that is watched. An attribute of the trace itself would be copied along with others."""
        original = plain._call_flat
        known, scene, build, let_go = self._known, self.scene, self._build, self._let_go
        eagerly, tensor = places.find("executing_eagerly").value, places.find("eager_tensor").value
        graph, traced_into = places.find("default_graph").value, self._traced_into

        def _call_flat(me: Any, *args: Any, **kwargs: Any) -> Any:
            built = key = None
            try:
                built = known.get(id(me))
                if built is None:
                    let_go(me)  # a copy
                elif not eagerly():
                    traced_into(graph())
                elif args and scene.rank:
                    key = tuple([one._shape_tuple() if type(one) is tensor else None for one in args[0]])
                    if hash(key) in built.shapes:
                        key = None
            except Exception:
                guard.failed("builds: call")
            try:
                if key is None or built is None:
                    return original(me, *args, **kwargs)
                return build(original, built, key, me, args, kwargs)
            except BaseException as error:
                without_us(error)
                raise

        return type(plain)(
            plain.__name__, (plain,),
            {"_call_flat": _call_flat, "__module__": plain.__module__, "__qualname__": plain.__qualname__,
             "__doc__": plain.__doc__},
        )  # fmt: skip

    def _build(
        self, original: Callable[..., Any], built: _Built, key: _Shapes, me: Any, args: Any, kwargs: Dict[str, Any]
    ) -> Any:
        """A call that has XLA build: its seconds, and what is in use after it and was not before."""
        if len(built.shapes) >= _MOST_SHAPES:
            return original(me, *args, **kwargs)
        is_first = not built.shapes
        process = self.scene.process
        try:
            built.shapes.add(hash(key))  # another thread with the same shapes waits for this one's
            before = process.in_use_bytes()
            began = time.perf_counter()
            result = original(me, *args, **kwargs)
        except BaseException:
            built.shapes.discard(hash(key))  # nothing was kept, and the next call tries again
            raise
        ended, began_own = time.perf_counter(), time.thread_time()
        try:
            after = process.in_use_bytes() if before is not None else None
            grown = 0 if after is None or before is None else max(0, after - before)
            if not built.is_around or grown - tensors.output_bytes(result) >= _LEAST_BYTES:
                self._count(built, key, is_first, grown, ended - began)
            if not built.is_open:
                self._let_go(me)
        except Exception:
            guard.failed("builds")
        guard.spent["builds"] += time.thread_time() - began_own
        return result

    def _count(self, built: _Built, key: _Shapes, is_first: bool, grown: int, seconds: float) -> None:
        at, stack = self.scene.where("xla_build")
        self.scene.ledger.happened("xla_build", at, 1, grown, seconds, built.name, stack)
        if built.inputs and self.scene.rank_for("xla_build") > 1:
            asked = _signature(built.inputs, key)
            self.reasons.traced(built.history, at, built.name, Trace(asked, asked), is_first)


def _signature(inputs: Sequence[Tuple[str, str]], key: _Shapes) -> Signature:
    return Signature(tuple([(name, Node("tensor", dtype, shape)) for (name, dtype), shape in zip(inputs, key)]))


def _named(concrete: Any, inputs: List[Tuple[str, str, Any]]) -> Tuple[Tuple[str, str], ...]:
    """The inputs as the program names them: by the paths of their arguments, where each is one tensor of these."""
    paths = arguments.tensor_paths(getattr(concrete, "function_type", None))
    names = paths if paths and len(paths) == len(inputs) else [name for name, _, _ in inputs]
    return tuple([(name, dtype) for name, (_, dtype, _) in zip(names, inputs)])
