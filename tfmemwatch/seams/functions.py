"""A `tf.function` and its traces: what is known of them without a call, and how traces are forgotten."""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from types import MethodType
from typing import Any, Iterator, List, NamedTuple, Set, Tuple

from ..errors import Unavailable
from .places import find, has


def calls_since_trace(manager: Any, function: Any) -> int:
    """How often a tf.function was called since its last trace, that one included; 0 where it is not counted."""
    if manager is None or function is None:
        return 0
    detector = getattr(manager, "_detectors", {}).get(getattr(function, "_key_for_call_stats", None))
    calls = getattr(detector, "_calls_per_tracings", None)
    return int(calls[-1]) if calls else 0


class Traced(NamedTuple):
    """The Python function behind a tf.function, and how it is traced."""

    name: str
    parameters: Tuple[str, ...]  # without the object that it is a method of
    is_method: bool
    line: Tuple[str, int]  # where it stands
    options: Tuple[str, ...]  # of its decorator
    relax: str  # the option that leaves shapes open, as this TensorFlow calls it
    target: Any = None  # a weak reference to the Python function
    instance: Any = None  # and one to the object that it is a method of
    declared: str = ""  # all its parameters, as a `def` has them
    rest: str = ""  # of these the one with a star


def traced(function: Any) -> Traced:
    """What is known of a tf.function without calling it."""
    target = getattr(function, "_python_function", None)
    is_method, instance, bound = False, None, None
    for _ in range(8):
        if isinstance(target, MethodType):
            is_method = True
            instance = getattr(target.__self__, "weakrefself_target__", instance)
        inner = getattr(target, "__wrapped__", None) or getattr(target, "__func__", None)
        if isinstance(target, functools.partial):
            inner, bound = target.func, (len(target.args), frozenset(target.keywords))
        if inner is None:
            break
        target = inner
    code = getattr(target, "__code__", None)
    if code is None:
        return Traced("", (), False, ("", 0), (), "")
    names = code.co_varnames[: code.co_argcount]
    is_method = is_method or names[:1] == ("self",)
    compiled, converted = getattr(function, "_jit_compile", None), getattr(function, "_autograph", True)
    options: Tuple[str, ...] = ()
    if type(compiled) is bool or converted is False:
        options = ("jit_compile=%r" % compiled,) if type(compiled) is bool else ()
        options += ("autograph=False",) if converted is False else ()
    kind: Any = type(function)
    relax = _relaxing(kind)
    given = tuple(names[1:] if is_method else names)
    if bound is not None:  # what comes after one that is given by name must be given by name too
        given = tuple(itertools.takewhile(lambda name: name not in bound[1], given[bound[0] :]))
    return Traced(
        code.co_name if bound is None else "<lambda>", given, is_method and bound is None,
        (code.co_filename, code.co_firstlineno), options, relax,
        weakref.ref(target), instance,
    )  # fmt: skip


def declared(function: Traced) -> Traced:
    """With its parameters as its `def` has them, which is asked for when it is traced a second time."""
    target = function.target() if function.target is not None else None
    if target is None:
        return function
    said, rest = _declared(target, target.__code__)
    return function._replace(declared=said, rest=rest)


def _declared(function: Any, code: Any) -> Tuple[str, str]:
    """`self, x, rate=…, *rest, training=…, **named`, and `rest`; what the defaults are is the program's affair."""
    count, more = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames[: count + more])
    optional = {*names[count - len(getattr(function, "__defaults__", None) or ()) : count]}
    optional.update(getattr(function, "__kwdefaults__", None) or ())
    said = [name + "=…" if name in optional else name for name in names]
    stars = list(code.co_varnames[count + more : count + more + 2])
    rest = stars.pop(0) if code.co_flags & inspect.CO_VARARGS else ""
    if rest or more:
        said.insert(count, "*" + rest)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        said += ["**" + name for name in stars[:1]]
    return ", ".join(said), rest


@functools.lru_cache(maxsize=16)
def _relaxing(kind: Any) -> str:
    """How a kind of tf.function calls the option that leaves shapes open."""
    known = kind.__init__.__code__.co_varnames
    return next((name for name in ("reduce_retracing", "experimental_relax_shapes") if name in known), "")


def evict(function: Any, most: int) -> int:
    """Drop the oldest traces of a tf.function until `most` are left; how many went, none where that can't be done.

    To be called by the thread that traces it, which has its lock.
    """
    inner = [getattr(function, "%svariable_creation_fn" % name, None) for name in ("_", "_no_")]
    gone = 0
    for owner in (function, *inner):
        cache: Any = getattr(owner, "_function_cache", None)
        known = getattr(cache, "_primary", None)
        if known is not None and hasattr(cache, "delete"):
            for context, kind in list(known)[: max(0, len(known) - most)]:
                gone += bool(cache.delete(context=context, function_type=kind))
    return gone


_COMPILED = ("_XlaMustCompile", "jit_compile")
_MOST_FUNCTIONS = 100  # that are looked through for one that is compiled


@functools.lru_cache(maxsize=512)
def is_compiled(function: str) -> bool:
    """Whether XLA compiles a function of the runtime, or one that it calls, for each shape that it is called with."""
    if not has("context"):
        return False
    context = find("context").value()
    known: Set[str] = set()
    waiting = [function]
    while waiting and len(known) < _MOST_FUNCTIONS:
        name = waiting.pop()
        known.add(name)
        definition = context.get_function_def(name)
        for attributes in (definition.attr, *(node.attr for node in definition.node_def)):
            if any(attributes[mark].b for mark in _COMPILED if mark in attributes):
                return True
            called = (value.func.name for value in attributes.values() if value.HasField("func"))
            waiting += [one for one in called if one and one not in known]
    return False


def is_compiled_trace(concrete: Any) -> bool:
    """Whether XLA compiles a trace, for each shape that it is called with."""
    mark = concrete._attrs.get(_COMPILED[0])
    return mark is not None and bool(mark.b)


def graphs_around(graph: Any) -> Iterator[Any]:
    """The graph of a function that is being traced, and those that it is traced in: of a branch, of other functions."""
    while graph is not None and hasattr(graph, "outer_graph"):
        yield graph
        graph = graph.outer_graph


def graph_of_trace(concrete: Any) -> Any:
    """The graph that was traced."""
    return concrete._func_graph


def name_of_trace(concrete: Any) -> str:
    """What the function that was traced is called."""
    return str(concrete._func_graph.name)


def inputs_of_trace(concrete: Any) -> List[Tuple[str, str, Any]]:
    """Name, dtype and sizes of what a trace is called with, without what it has captured; no sizes, no rank."""
    graph = concrete._func_graph
    inputs = graph.inputs[: len(graph.inputs) - len(concrete._captured_inputs)]
    return [(one.op.name, one.dtype.name, one.shape.as_list() if one.shape.rank is not None else None)
            for one in inputs]  # fmt: skip


_OWN_CACHES = (
    "_variable_creation_config", "_no_variable_creation_config", "_variable_creation_fn", "_no_variable_creation_fn",
    "_stateful_fn", "_stateless_fn",
)  # fmt: skip


def clear_traces(function: Any) -> int:
    """Forget all traces of a tf.function but the one that its variables came with; how many there were."""
    cleared = 0
    for name in _OWN_CACHES:
        owner = getattr(function, name, None)
        cache = getattr(owner, "function_cache", None) or getattr(owner, "_function_cache", None)
        lock = getattr(owner, "lock", None) or getattr(owner, "_lock", None)
        if cache is None or lock is None:
            continue
        with lock:
            cleared += _emptied(cache)
    if not cleared and not any(getattr(function, name, None) is not None for name in _OWN_CACHES):
        raise Unavailable("%r has no traces that can be found" % type(function).__name__)
    return cleared


def _emptied(cache: Any) -> int:
    parts = [getattr(cache, name, None) for name in ("_primary", "primary", "arg_relaxed")]
    number = sum(len(part) for part in parts if part is not None)
    if hasattr(cache, "clear"):
        cache.clear()
        return number
    for name in ("primary", "arg_relaxed", "arg_relaxed_shapes", "missed"):
        part = getattr(cache, name, None)
        if part is not None:
            part.clear()
    return number


def name_of_function(function: Any) -> str:
    """What a tf.function is called in the source."""
    python = getattr(function, "_python_function", None)
    return str(getattr(python, "__name__", None) or getattr(function, "_name", ""))
