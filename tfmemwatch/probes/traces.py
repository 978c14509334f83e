"""Every trace of every tf.function: by line, first or again, what it took and what it left."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from functools import partial
from typing import Any, Callable, Deque, Dict, List, MutableMapping, NamedTuple, Optional, Tuple

from ..errors import LeakFound
from ..explain import arguments
from ..explain.advice import advice
from ..explain.arguments import Trace
from ..explain.baked_in import BakedIn, Source, State, changed, changed_by_trace, nothing, state_of
from ..explain.reasons import ReasonCounts, Reasons, TraceHistory, instead, why
from ..ledger import site
from ..ledger.counts import Place, site_of
from ..model import LEAK, UNKNOWN, Finding, Site
from ..reports import RetraceCause
from ..safety import guard
from ..safety.tracebacks import without_us
from ..seams import functions, graphs, keras, places
from ..seams.patch import Patch
from .scene import Probe, Scene
from .trace_callers import Callers

_LIFTED = "initialize_variables"  # what TensorFlow itself traces when a tf.function has made variables
_LARGE_BYTES = 1 << 20
_GRAPHS_A_LOOK, _MOST_GRAPHS = 20, 200
_MOST_BAKED = 200
_COMMON = 8  # traces of one function, or first ones at one line, that are looked at in every way
_MOST_MADE = 1000


class _Begin(NamedTuple):
    """What is known before a trace runs."""

    kind: str  # the kind of graph that will live on: function_graph or dataset_graph
    place: Place
    stack: Tuple[Site, ...]
    owner: Any
    name: str
    seconds: float
    resident: Optional[int]  # not malloc's own count: that takes longer the more it has freed
    history: Optional[TraceHistory]
    trace: Optional[Trace]  # what it is for
    state: State  # of what the function reads or writes, before its first trace
    stands_for: int  # traces, where it is one of many whose memory is read
    is_common: bool  # many functions were made at this line already
    is_like_last: bool  # it goes for one that differs as the last one did


class _Depth(threading.local):
    depth = 0  # of traces on this thread


class Traces(Probe):
    """Sees `func_graph_from_py_func`; the bodies of cond and while belong to the trace around them."""

    name = "traces"
    watches = "traces of tf.function, by function and line; live functions and graphs"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._local = _Depth()
        self._traces: MutableMapping[Any, TraceHistory] = weakref.WeakKeyDictionary()  # by Function, hashed by identity
        self.reasons = Reasons()
        self._graphs: Dict[int, Tuple[Any, str]] = {}  # to be looked at, by id: weak, and each leaves when it dies
        self._baked: Dict[Site, BakedIn] = {}
        self._exceeding: Deque[_Begin] = deque(maxlen=100)
        self._callers = Callers()
        self._made: Dict[Place, int] = {}  # functions by the line that traced them first
        guard.spent.setdefault("traces", 0.0)

    def install(self) -> None:
        self._detectors = places.find("tracing_detectors").value if places.has("tracing_detectors") else None
        self._plain_graph = places.find("func_graph").value
        self.wrap("trace", self._trace)

    def start_afresh(self) -> None:
        self._local.depth = 0
        self._traces = weakref.WeakKeyDictionary()
        self._graphs.clear()
        self._baked.clear()
        self._exceeding.clear()
        self._made.clear()
        self.reasons.start_afresh()

    def read(self) -> None:
        """Compare the traces that came since the last look."""
        self.reasons.compare_waiting()
        for key in list(self._graphs)[:_GRAPHS_A_LOOK]:
            ref, name = self._graphs.pop(key, (nothing, ""))
            graph = ref()
            if graph is not None:
                self._look_for_constants(graph, name)

    def _look_for_constants(self, graph: Any, name: str) -> None:
        for lines, size in graphs.constants(graph, _LARGE_BYTES):
            at = site.of_traceback([(line[0], line[1], line[2]) for line in lines])
            if len(self._baked) < _MOST_BAKED:
                self._baked[at] = BakedIn(name, at, "Python data is baked into `%s` as a constant" % name, size)

    def traces_of(self, model: Any) -> int:
        """How often the functions of a model were traced: those that it keeps, and methods of it and of its layers."""
        kept = {id(one) for one in keras.functions_of(model)}
        owners = {id(model), *map(id, getattr(model, "layers", None) or ())}
        times = 0
        for function, history in list(self._traces.items()):
            instance = history.function.instance() if history.function.instance is not None else None
            if id(function) in kept or (instance is not None and id(instance) in owners):
                times += history.count
        return times

    def retrace_causes(self) -> List[RetraceCause]:
        return [RetraceCause(*row) for row in self.reasons.causes()]

    def endless_retraces(self) -> List[Site]:
        return self.reasons.endless()

    def baked_in(self) -> List[BakedIn]:
        """Python state that has changed since a trace read it, and large data in traces."""
        found = sorted(self._baked.values(), key=lambda one: -one.bytes)
        for history in list(self._traces.values()):
            function = history.function
            if function.target is not None:
                source = Source(function.target, function.instance or nothing)
                own = {one.name for one in history.own}
                found += history.own
                found += [one for one in changed(function.name, function.line, source, history.state)
                          if one.name not in own]  # fmt: skip
        return found

    def explained(self, finding: Finding) -> Finding:
        """Why a function was traced again and again: by argument."""
        if finding.kind != "retrace" or finding.why:
            return finding
        account = self.reasons.account(finding.site)
        return finding if account is None else _explained(finding, account)

    def _trace(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        local, scene = self._local, self.scene

        def trace(*args: Any, **kwargs: Any) -> Any:
            depth = local.depth
            begin = None if depth or not (patch.is_live and scene.rank) else self._begin(args, kwargs)
            try:
                try:
                    try:
                        local.depth = depth + 1
                        graph = original(*args, **kwargs)
                    finally:
                        local.depth = depth
                finally:  # once more: an interrupt may come within the first
                    local.depth = depth
            except BaseException as error:
                without_us(error)
                raise
            if begin is not None:
                complaint = ""
                try:
                    self._end(begin, graph)
                    complaint = self._over_budget(begin)
                except Exception:
                    guard.failed("traces")
                if complaint:
                    raise LeakFound(complaint)  # what the program has asked for
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
            began = time.thread_time()
            user, owner, of_dataset, asking = self._callers.known() or self._callers.walk(sys._getframe(1))
            rank = self.scene.rank_for("retrace")
            at: Place = UNKNOWN
            if user is not None and rank > 1:
                code = user.f_code
                at = (code, user.f_lineno) if site.is_plain(code, False) else site.of_frame(user)
            stack = site.stack(user) if user is not None and rank > 2 else ()
            name = str(args[0] if args else kwargs.get("name", ""))
            history = trace = None
            stands_for, is_common, is_like_last = 1, False, False
            if not of_dataset:  # such a function is traced once, and nobody can write another signature for it
                history = self._history(owner)
            if history is not None:
                before = history.count or self._made.get(at, 0)
                is_common = not history.count and before >= _COMMON
                stands_for = _weighed(before)
                is_like_last = history.passes
            if asking is not None and history is not None and rank > 1 and not is_like_last:
                trace = arguments.signature(asking.f_locals, history.function.parameters, self.scene.settings.values)
            state: State = ()
            if history is not None and not history.count and not is_common and history.function.target is not None:
                state = state_of(Source(history.function.target, history.function.instance or nothing))
            resident = None if of_dataset or not stands_for else self.scene.process.resident_bytes()
            kind = "dataset_graph" if of_dataset else "function_graph"
            now = time.perf_counter()
            guard.spent["traces"] += time.thread_time() - began
            return _Begin(kind, at, stack, owner, name, now, resident, history, trace, state, stands_for, is_common,
                          is_like_last)  # fmt: skip
        except Exception:
            guard.failed("traces")
            return None

    def _count_made(self, at: Place) -> None:
        if at is not UNKNOWN:
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            self._made[at] = self._made.get(at, 0) + 1

    def _end(self, begin: _Begin, graph: Any) -> None:
        ended, began = time.perf_counter(), time.thread_time()
        seconds = ended - begin.seconds
        grown = 0
        if begin.resident is not None:
            grown = begin.stands_for * max(0, (self.scene.process.resident_bytes() or 0) - begin.resident)
        ledger = self.scene.ledger
        history, again = begin.history, 0
        if history is not None:
            again = history.count
            history.count += 1
            if again == 1:
                history.function = functions.declared(history.function)
        firsts = 2 if again == 1 and getattr(begin.owner, "_created_variables", None) else 1  # traced twice at first
        kind = "retrace" if again >= firsts else "trace"
        ledger.happened(kind, begin.place, 1, grown, seconds, begin.name, begin.stack)
        if again == 0:
            self._count_made(begin.place)
        if again == 0 and not begin.is_common:
            name = begin.name
            if history is not None:
                function = history.function
                name = function.name or name
                if function.target is not None:
                    source = Source(function.target, function.instance or nothing)
                    history.state = after = state_of(source)
                    if begin.state != after:
                        history.own = changed_by_trace(function.name, function.line, source, begin.state, after)
            if len(self._graphs) < _MOST_GRAPHS:
                self._graphs[id(graph)] = (weakref.ref(graph, partial(self._graphs.pop, id(graph))), name)
        if again == 0 and begin.owner is not None:
            ledger.born("function", begin.place, begin.owner, None, begin.name)
        if history is not None and (begin.trace is not None or begin.is_like_last):
            self.reasons.traced(history, begin.place, begin.name, begin.trace, kind == "trace")
        calls = functions.calls_since_trace(self._detectors, begin.owner) if again else 0
        if calls:
            ledger.happened("call", begin.place, calls)
        ledger.born(begin.kind, begin.place, graph, None, begin.name, begin.stack)
        guard.spent["traces"] += time.thread_time() - began

    def _over_budget(self, begin: _Begin) -> str:
        """What to raise, where a function has been traced more often than it may be, and that is to be raised."""
        settings, history = self.scene.settings, begin.history
        if not settings.max_traces or history is None or history.count <= settings.max_traces:
            return ""
        if begin.name in settings.evict or history.function.name in settings.evict:
            functions.evict(begin.owner, settings.max_traces - 1)  # that of now is not among them yet
            return ""
        if settings.over_budget == "raise":
            return str(self._exceeded(begin))
        if not history.is_told:
            history.is_told = True
            self._exceeding.append(begin)
        return ""

    def _exceeded(self, begin: _Begin) -> Finding:
        row = advice("budget", begin.name)
        history = begin.history
        times = history.count if history is not None else 0
        finding = Finding(
            kind=row.kind, site=site_of(begin.place), since=0.0, grown=times, rate=0.0, per="hour",
            bytes=0, verdict=LEAK, cause=row.cause, cure=row.cure, confidence=1.0, stack=begin.stack,
        )  # fmt: skip
        return _explained(finding, self.reasons.together(history)) if history is not None else finding

    def news(self) -> List[Finding]:
        """Which functions have been traced more often than max_traces allows."""
        found = []
        while self._exceeding:
            found.append(self._exceeded(self._exceeding.popleft()))
        return found

    def _history(self, owner: Any) -> Optional[TraceHistory]:
        """What is remembered of the traces that this function has had before."""
        if owner is None:
            return None
        history = self._traces.get(owner)
        if history is None:
            history = self._traces[owner] = TraceHistory(functions.traced(owner))
        return history


def _weighed(before: int) -> int:
    """For how many traces the memory of this one stands, after so many: 0 where it is not read.

    At uneven distances: a program has a rhythm of its own.
    """
    if before < _COMMON:
        return 1
    return 8 if (before * 2654435761 >> 7) & 7 == 0 else 0


def _explained(finding: Finding, account: ReasonCounts) -> Finding:
    text, examples, differs = why(account)
    better = instead(account)
    found = finding._replace(why=text, examples=examples, differs=differs)
    return found if better is None else found._replace(suggestion=better.code, short=better.short)
