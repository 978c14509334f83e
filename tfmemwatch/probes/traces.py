"""Every trace of every tf.function: by line, first or again, what it took and what it left."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from types import CodeType, FrameType
from typing import Any, Callable, Deque, Dict, List, MutableMapping, NamedTuple, Optional, Tuple

from .. import arguments, guard, site, tfapi
from ..advice import advice
from ..arguments import Trace
from ..errors import LeakFound
from ..frozen import Frozen, Source, State, changed, changed_by_trace, nothing, state_of
from ..ledger import Place, site_of
from ..model import LEAK, UNKNOWN, Finding, Site
from ..patch import Patch
from ..reasons import Account, History, Reasons, instead, why
from .scene import Probe, Scene

_OWNER, _DATASET = "owner", "dataset"  # what a file of TensorFlow's stands for on the stack of a trace
_OWNERS = ("polymorphic_function.py", "def_function.py")
_LIFTED = "initialize_variables"  # what TensorFlow itself traces when a tf.function has made variables
_ASKS = "_maybe_define_function"  # what looks for a trace that fits, and has one made where there is none
_LARGE_BYTES = 1 << 20
_GRAPHS_A_LOOK = 20
_MOST_BAKED = 200
_COMMON = 8  # traces of one function, or first ones at one line, that are looked at in every way
_MOST_MADE = 1000
_DATASETS = ("structured_function.py", "dataset_ops.py")


class _Begin(NamedTuple):
    """What is known before a trace runs."""

    kind: str  # the kind of graph that will live on: function_graph or dataset_graph
    place: Place
    stack: Tuple[Site, ...]
    owner: Any
    name: str
    seconds: float
    resident: Optional[int]  # not malloc's own count: that takes longer the more it has freed
    history: Optional[History]
    trace: Optional[Trace]  # what it is for
    state: State  # of what the function reads or writes, before its first trace
    stands_for: int  # traces, where it is one of many whose memory is read
    is_common: bool  # many functions were made at this line already
    is_like_last: bool  # it goes for one that differs as the last one did


class _Way(NamedTuple):
    """How far above the hook, with which code, some frames stood the last time."""

    asking: int
    asking_code: CodeType
    owner: int
    owner_code: CodeType
    entry: int  # where the user's line entered TensorFlow
    entry_code: CodeType


class _Depth(threading.local):
    depth = 0  # of traces on this thread


class Traces(Probe):
    """Sees `func_graph_from_py_func`; the bodies of cond and while belong to the trace around them."""

    name = "traces"
    watches = "traces of tf.function, by function and line; live functions and graphs"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._local = _Depth()
        self._traces: MutableMapping[Any, History] = weakref.WeakKeyDictionary()  # by Function, hashed by identity
        self.reasons = Reasons()
        self._graphs: Deque[Tuple[Any, str]] = deque(maxlen=200)  # weak references to those to be looked at
        self._baked: Dict[Site, Frozen] = {}
        self._exceeding: Deque[_Begin] = deque(maxlen=100)
        self._roles: Dict[str, str] = {}  # by file, of TensorFlow and of libraries
        self._way: Optional[_Way] = None
        self._made: Dict[Place, int] = {}  # functions by the line that traced them first
        guard.spent.setdefault("traces", 0.0)

    def install(self) -> None:
        self._detectors = tfapi.find("tracing_detectors").value if tfapi.has("tracing_detectors") else None
        self._plain_graph = tfapi.find("func_graph").value
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
        self.reasons.settle()
        for _ in range(min(len(self._graphs), _GRAPHS_A_LOOK)):
            ref, name = self._graphs.popleft()
            graph = ref()
            if graph is not None:
                self._look_for_constants(graph, name)

    def _look_for_constants(self, graph: Any, name: str) -> None:
        for lines, size in tfapi.constants(graph, _LARGE_BYTES):
            at = site.of_traceback([(line[0], line[1], line[2]) for line in lines])
            if len(self._baked) < _MOST_BAKED:
                self._baked[at] = Frozen(name, at, "Python data is baked into `%s` as a constant" % name, size)

    def times(self, model: Any) -> int:
        """How often the functions of a model were traced: those that it keeps, and methods of it and of its layers."""
        kept = {id(one) for one in tfapi.functions_of(model)}
        owners = {id(model), *map(id, getattr(model, "layers", None) or ())}
        times = 0
        for function, history in list(self._traces.items()):
            instance = history.function.instance() if history.function.instance is not None else None
            if id(function) in kept or (instance is not None and id(instance) in owners):
                times += history.count
        return times

    def frozen(self) -> List[Frozen]:
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
            local.depth = depth + 1
            try:
                graph = original(*args, **kwargs)
            finally:
                local.depth = depth
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
            began = time.perf_counter()
            user, owner, of_dataset, asking = self._known_way() or self._caller(sys._getframe(1))
            rank = self.scene.rank
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
            guard.spent["traces"] += now - began
            return _Begin(kind, at, stack, owner, name, now, resident, history, trace, state, stands_for, is_common,
                          is_like_last)  # fmt: skip
        except Exception:
            guard.failed("traces")
            return None

    def _caller(self, frame: Optional[FrameType]) -> Tuple[Optional[FrameType], Any, bool, Optional[FrameType]]:
        """The user's frame, the tf.function that is traced, whether it is one of a dataset, and what asks for it."""
        owner, of_dataset, asking = None, False, None
        owner_frame = below = None
        library: Any = None
        asking_at = owner_at = 0
        classes, roles = site.classes, self._roles
        left, at = site.DEEPEST, 2  # the hook, seen from `_known_way`
        while frame is not None and left:
            code = frame.f_code
            file = code.co_filename
            kind = classes.get(file, -1)
            if kind < 0:
                kind = site.class_of(file)
            if kind in site.THEIRS:
                if asking is not None and owner_frame is not None and below is not None and not of_dataset:
                    self._way = _Way(asking_at, asking.f_code, owner_at, owner_frame.f_code, at - 1, below.f_code)
                return frame, owner, of_dataset, asking
            if kind != site.SKIP and library is None:
                library = (frame, owner, of_dataset, asking)
            role = roles.get(file)
            if role is None:
                role = roles[file] = _role(file)
            if role is _OWNER:
                if owner is None:
                    owner, owner_frame, owner_at = frame.f_locals.get("self"), frame, at
            elif role is _DATASET:
                of_dataset = True
            if asking is None and code.co_name == _ASKS:
                asking, asking_at = frame, at
            below, frame = frame, frame.f_back
            at += 1
            left -= 1
        return library or (None, owner, of_dataset, asking)

    def _known_way(self) -> Optional[Tuple[FrameType, Any, bool, FrameType]]:
        """The same as `_caller`, where the way is that of the last time: a walk makes an object of each step."""
        way = self._way
        if way is None:
            return None
        try:
            entry = sys._getframe(way.entry)
        except ValueError:  # the stack is not as deep
            return None
        asking, owner, user = sys._getframe(way.asking), sys._getframe(way.owner), entry.f_back
        is_same = entry.f_code is way.entry_code and asking.f_code is way.asking_code and owner.f_code is way.owner_code
        if not is_same or user is None or not site.is_plain(user.f_code, False):
            return None
        return user, owner.f_locals.get("self"), False, asking

    def _count_made(self, at: Place) -> None:
        if at is not UNKNOWN:
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            self._made[at] = self._made.get(at, 0) + 1

    def _end(self, begin: _Begin, graph: Any) -> None:
        ended = time.perf_counter()
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
                history.function = tfapi.declared(history.function)
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
            self._graphs.append((weakref.ref(graph), name))
        if again == 0 and begin.owner is not None:
            ledger.born("function", begin.place, begin.owner, None, begin.name)
        if history is not None and (begin.trace is not None or begin.is_like_last):
            self.reasons.traced(history, begin.place, begin.name, begin.trace, kind == "trace")
        calls = tfapi.calls_since_trace(self._detectors, begin.owner) if again else 0
        if calls:
            ledger.happened("call", begin.place, calls)
        ledger.born(begin.kind, begin.place, graph, None, begin.name, begin.stack)
        guard.spent["traces"] += time.perf_counter() - ended

    def _over_budget(self, begin: _Begin) -> str:
        """What to raise, where a function has been traced more often than it may be, and that is to be raised."""
        settings, history = self.scene.settings, begin.history
        if not settings.max_traces or history is None or history.count <= settings.max_traces:
            return ""
        if begin.name in settings.evict or history.function.name in settings.evict:
            tfapi.evict(begin.owner, settings.max_traces - 1)  # that of now is not among them yet
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

    def _history(self, owner: Any) -> Optional[History]:
        """What is remembered of the traces that this function has had before."""
        if owner is None:
            return None
        history = self._traces.get(owner)
        if history is None:
            history = self._traces[owner] = History(tfapi.traced(owner))
        return history


def _weighed(before: int) -> int:
    """For how many traces the memory of this one stands, after so many: 0 where it is not read.

    At uneven distances: a program has a rhythm of its own.
    """
    if before < _COMMON:
        return 1
    return 8 if (before * 2654435761 >> 7) & 7 == 0 else 0


def _role(file: str) -> str:
    if file.endswith(_OWNERS):
        return _OWNER
    return _DATASET if file.endswith(_DATASETS) else ""


def _explained(finding: Finding, account: Account) -> Finding:
    text, examples, differs = why(account)
    better = instead(account)
    found = finding._replace(why=text, examples=examples, differs=differs)
    return found if better is None else found._replace(suggestion=better.code, short=better.short)
