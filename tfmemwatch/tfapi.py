"""The one module that knows where TensorFlow keeps things.

Each thing is named once, with every place it has lived; the first that exists wins. Nothing here asks for a version.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import sys
import weakref
from types import MethodType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .errors import Unavailable

_POLY = "~eager.polymorphic_function."

# «~» stands for tensorflow.python, whatever the distribution calls it.
PLACES: Dict[str, Tuple[str, ...]] = {
    "trace": ("~framework.func_graph:func_graph_from_py_func",),
    "func_graph": ("~framework.func_graph:FuncGraph",),
    "function": (
        _POLY + "polymorphic_function:Function",
        "~eager.def_function:Function",
    ),
    "tracing_detectors": (
        _POLY + "polymorphic_function:_frequent_tracing_detector_manager",
        "~eager.def_function:_frequent_tracing_detector_manager",
    ),
    "graph": ("~framework.ops:Graph.__init__",),
    "registered_function": (
        _POLY + "atomic_function:AtomicFunction",
        _POLY + "monomorphic_function:_EagerDefinedFunction",
        "~eager.function:_EagerDefinedFunction",
    ),
    "imported_operations": ("~framework.importer:_ProcessNewOps",),
    "default_graphs": ("~framework.ops:_default_graph_stack",),
    "variable": ("~ops.resource_variable_ops:BaseResourceVariable.__init__",),
    "resource_variable": ("~ops.resource_variable_ops:ResourceVariable.__init__",),
    "uninitialized_variable": ("~ops.resource_variable_ops:UninitializedVariable.__init__",),
    "unread_variable": ("~ops.resource_variable_ops:_UnreadVariable",),
    "ref_variable": (
        "~ops.ref_variable:RefVariable.__init__",
        "~ops.variables:RefVariable.__init__",
    ),
    "op_defs": ("~framework.op_def_registry:get", "~framework.op_def_registry:get_registered_ops"),
    "session": ("~client.session:BaseSession.__init__",),
    "session_close": ("~client.session:BaseSession.close",),
    "session_run": ("~client.session:BaseSession.run",),
    "session_callable": ("~client.session:BaseSession._make_callable_from_options",),
    "gradient_register": ("~framework.registry:Registry.register",),
    "gradient_registry": ("~framework.ops:gradient_registry", "~framework.ops:_gradient_registry"),
    "pyfunc_insert": ("~ops.script_ops:FuncRegistry.insert",),
    "pyfuncs": ("~ops.script_ops:_py_funcs",),
    "iterator": ("~data.ops.iterator_ops:OwnedIterator.__init__", "~data.ops.iterator_ops:IteratorV2.__init__"),
    "cache_dataset": ("~data.ops.dataset_ops:DatasetV2.cache",),
    "saved_model_load": ("~saved_model.load:load_partial",),
    "concrete_call": (
        _POLY + "concrete_function:ConcreteFunction.__call__",
        _POLY + "monomorphic_function:ConcreteFunction.__call__",
        "~eager.function:ConcreteFunction.__call__",
    ),
    "compiled_trace": (  # where no function is compiled for each shape, there is nothing to count
        _POLY + "concrete_function:ConcreteFunction.__init__",
        _POLY + "monomorphic_function:ConcreteFunction.__init__",
    ),
    "tape_push": ("~eager.backprop:GradientTape._push_tape",),
    "tape_pop": ("~eager.backprop:GradientTape._pop_tape",),
    "queue": ("~ops.data_flow_ops:QueueBase.__init__",),
    "table": ("~ops.lookup_ops:LookupInterface.__init__",),
    "event_writer": ("~summary.writer.event_file_writer:EventFileWriter.__init__",),
    "event_writer_close": ("~summary.writer.event_file_writer:EventFileWriter.close",),
    "summary_writer": (
        "~ops.summary_ops_v2:_ResourceSummaryWriter.__init__",
        "~ops.summary_ops_v2:ResourceSummaryWriter.__init__",
    ),
    "summary_writer_close": (
        "~ops.summary_ops_v2:_ResourceSummaryWriter.close",
        "~ops.summary_ops_v2:ResourceSummaryWriter.close",
    ),
    "seed": ("~framework.random_seed:get_seed",),
    "context": ("~eager.context:context",),
    "context_object": ("~eager.context:_context",),
    "default_graph": ("~framework.ops:get_default_graph",),
    "executing_eagerly": ("~eager.context:executing_eagerly",),
    "fast_path": ("~pywrap_tfe:TFE_Py_FastPathExecute", "~pywrap_tensorflow:TFE_Py_FastPathExecute"),
    "slow_path": ("~pywrap_tfe:TFE_Py_Execute", "~pywrap_tensorflow:TFE_Py_Execute"),
    "scalar_cache_clear": ("~pywrap_tfe:TFE_ClearScalarCache", "~pywrap_tensorflow:TFE_ClearScalarCache"),
    "context_caches_clear": ("~pywrap_tensorflow:TFE_ContextClearCaches",),
    "eager_tensor": ("~framework.ops:EagerTensor",),
    "to_eager": ("~framework.constant_op:convert_to_eager_tensor",),
}  # fmt: skip


class Place(NamedTuple):
    """Something of TensorFlow's: the module or class that holds it, and its name there."""

    holder: Any
    attribute: str

    @property
    def value(self) -> Any:
        """What stands there now."""
        return getattr(self.holder, self.attribute)


def root() -> str:
    """Where the Python part of this TensorFlow lives: TensorFlow 1.15 has it under two names."""
    for name in ("tensorflow.python.", "tensorflow_core.python."):
        if name + "framework.ops" in sys.modules:
            return name
    return "tensorflow.python."


def find(what: str) -> Place:
    """The first place that exists, or Unavailable with every place that was tried."""
    for place in PLACES[what]:
        found = _at(place)
        if found is not None:
            return found
    raise Unavailable("%s is at none of %s" % (what, ", ".join(place.replace("~", root()) for place in PLACES[what])))


def has(what: str) -> bool:
    """Whether this TensorFlow has it at all."""
    return any(_at(place) is not None for place in PLACES[what])


def op_has_attribute(op: str, attribute: str) -> bool:
    """Whether an op of this TensorFlow has an attribute; False where op definitions can't be looked up."""
    if not has("op_defs"):
        return False
    found = find("op_defs")
    definition = found.value(op) if found.attribute == "get" else found.value().get(op)
    return definition is not None and any(attr.name == attribute for attr in definition.attr)


def _at(place: str) -> Optional[Place]:
    module_name, path = place.replace("~", root()).split(":")
    holder: Any = sys.modules.get(module_name)  # never imported here: a second copy of a module is a second TensorFlow
    steps = path.split(".")
    try:
        for step in steps[:-1]:
            holder = getattr(holder, step)
        getattr(holder, steps[-1])
    except AttributeError:
        return None
    return Place(holder, steps[-1])


KERAS = ("keras", "tf_keras")  # packages of their own; the keras inside TensorFlow itself comes with it


class Keras(NamedTuple):
    """One Keras of the program: Keras 2, tf_keras and Keras 3 can live in one process."""

    name: str
    model: Any
    optimizers: Tuple[Any, ...]
    symbolic: Tuple[Any, ...]  # what stands for a tensor while a functional model is put together


_SYMBOLIC = (
    "keras.src.backend.common.keras_tensor:KerasTensor",
    "keras.src.engine.keras_tensor:KerasTensor",
    "keras.engine.keras_tensor:KerasTensor",
    "tf_keras.src.engine.keras_tensor:KerasTensor",
)


def kerases() -> List[Keras]:
    """Every Keras that has been imported; imports none."""
    found: List[Keras] = []
    for name, models, optimizers in (
        ("keras 3", ("keras.src.models.model:Model",), ("keras.src.optimizers.base_optimizer:BaseOptimizer",)),
        ("keras 2", ("keras.src.engine.training:Model", "keras.engine.training:Model"), _optimizers("keras.")),
        ("tf_keras", ("tf_keras.src.engine.training:Model", "tf_keras.engine.training:Model"),
         _optimizers("tf_keras.")),
        ("tensorflow.keras", (root() + "keras.engine.training:Model",),
         (root() + "keras.optimizer_v2.optimizer_v2:OptimizerV2",)),
    ):  # fmt: skip
        model = next(filter(None, map(_loaded, models)), None)
        if model is not None and all(model is not other.model for other in found):
            symbolic = tuple(filter(None, map(_loaded, (*_SYMBOLIC, root() + "framework.ops:Tensor"))))
            found.append(Keras(name, model, tuple(filter(None, map(_loaded, optimizers))), symbolic))
    return found


def _optimizers(package: str) -> Tuple[str, ...]:
    return tuple(
        package + place
        for place in (
            "src.optimizers.optimizer:_BaseOptimizer",
            "src.optimizers.legacy.optimizer_v2:OptimizerV2",
            "optimizers.optimizer:_BaseOptimizer",
            "optimizers.legacy.optimizer_v2:OptimizerV2",
            "optimizers.optimizer_experimental.optimizer:_BaseOptimizer",
            "optimizers.optimizer_v2.optimizer_v2:OptimizerV2",
        )
    )


def _loaded(place: str) -> Any:
    """A class of a module that is already imported, or None."""
    module_name, name = place.split(":")
    return getattr(sys.modules.get(module_name), name, None)


def versions() -> Dict[str, str]:
    """What is imported, by name: for reports, never for decisions."""
    names = ("tensorflow", "keras", "tf_keras", "numpy", "wrapt")
    found = {}
    for name in names:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[name] = str(version)
    return found


def version() -> Optional[Tuple[int, int]]:
    """The version, for what is known of versions: never for what to do."""
    found = re.match(r"(\d+)\.(\d+)", versions().get("tensorflow", ""))
    return (int(found.group(1)), int(found.group(2))) if found else None


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


def constants(graph: Any, least_bytes: int, most: int = 4000) -> List[Tuple[Any, int]]:
    """The large constants of a graph: the lines that made each, outermost first, and its bytes."""
    found = []
    for operation in graph.get_operations()[:most]:
        if operation.type == "Const":
            shape, dtype = operation.outputs[0].shape, operation.outputs[0].dtype
            size = (shape.num_elements() or 0) * dtype.size
            if size >= least_bytes:
                found.append((operation.traceback, int(size)))
    return found


def evict(function: Any, most: int) -> int:
    """Drop the oldest traces of a tf.function but so many; how many went. None where its cache can't be emptied so.

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


def output_bytes(result: Any) -> int:
    """What the tensors weigh that an operation has returned."""
    if isinstance(result, (list, tuple)):
        return sum(map(output_bytes, result))
    if type(result) is dict:
        return sum(map(output_bytes, result.values()))
    count = getattr(result, "_num_elements", None)
    return 0 if count is None else count() * max(0, result.dtype.size)


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


def registered_functions() -> Optional[int]:
    """How many functions TensorFlow's runtime knows, in some 20 µs; None where it has not been started, or is mute."""
    names = function_names()
    return None if names is None else len(names)


_WRAPPED = "__wrapped__"  # the runtime's own, around an operation that is run eagerly: one for each kind, for ever


def function_names() -> Optional[List[str]]:
    """The functions that TensorFlow's runtime knows; None where it has not been started, or is mute."""
    if not is_used() or not has("context"):
        return None
    names = getattr(find("context").value(), "list_function_names", None)
    return None if names is None else [one for one in map(_text, names()) if not one.startswith(_WRAPPED)]


def registered_name(owner: Any) -> str:
    """Under which name the owner of a registered function has registered it."""
    return _text(owner.name)


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def is_used() -> bool:
    """Whether TensorFlow's runtime has been started in this process."""
    if not has("context_object"):
        return False
    context = find("context_object").value
    return context is not None and getattr(context, "_context_handle", None) is not None


_WITHOUT_MEMORY = frozenset(("string", "resource", "variant"))  # what they hold is not an array of numbers


def tensor_memory(tensor: Any, least: int) -> Tuple[int, Optional[int]]:
    """Bytes of an eager tensor in the memory of the host; and where, for the larger ones that can say it."""
    try:
        dtype = tensor.dtype
        if dtype.name in _WITHOUT_MEMORY or not (tensor.device or "CPU:").rpartition("/")[2].count("CPU:"):
            return 0, None
        size = int(tensor._num_elements()) * int(dtype.size)
        inside = getattr(tensor, "_numpy_internal", None)
        if size < least or inside is None:
            return size, None
        return size, int(inside().__array_interface__["data"][0])
    except Exception:  # it is one whose value is not there yet, or was given away
        return 0, None


def owns_memory(variable: Any) -> bool:
    """Whether a variable has a value of its own: not what an assignment returns, nor one of a graph."""
    unread = find("unread_variable").value if has("unread_variable") else ()
    return not isinstance(variable, unread) and not variable._in_graph_mode and hasattr(variable, "_handle_name")


_MOST_WITHIN = 2000  # things that are looked through below a SavedModel


def variables_of(model: Any) -> List[Any]:
    """The variables of a Keras model or of a SavedModel, each once, those of a Keras 3 as TensorFlow's own.

    Nothing is built for it. A model that has none yet may raise, and so may a property of the user's.
    """
    held = next((list(getattr(model, name)) for name in ("weights", "variables") if hasattr(type(model), name)), None)
    if held is None:
        held = list(getattr(model, "variables", None) or _variables_within(model))
    owns = [getattr(one, "_value", None) for one in held]
    return list({id(one): one for one in (one if own is None else own for one, own in zip(held, owns))}.values())


def _variables_within(root: Any) -> List[Any]:
    """What a SavedModel would save: the variables below its root, wherever they lie."""
    kind = find("variable").holder
    found: List[Any] = []
    seen, queue = {id(root)}, [root]
    while queue and len(seen) < _MOST_WITHIN:
        for one in _children(queue.pop()):
            if isinstance(one, kind):
                found.append(one)
            elif id(one) not in seen:
                seen.add(id(one))
                queue.append(one)
    return found


def _children(thing: Any) -> List[Any]:
    if hasattr(thing, "_trackable_children"):
        return list(thing._trackable_children().values())
    return [one.ref for one in getattr(thing, "_checkpoint_dependencies", ())]


def kinds_of_models() -> Set[type]:
    """The classes of all Keras models there may be."""
    found: Set[type] = {keras.model for keras in kerases()}
    below: List[Any] = list(found)
    while below:
        children: List[Any] = [child for child in type.__subclasses__(below.pop()) if child not in found]
        found.update(children)
        below += children
    return found


def functions_of(model: Any) -> List[Any]:
    """The tf.functions that a model keeps for `fit`, `predict` and so on."""
    if not has("function"):
        return []
    kind = find("function").value
    found = []
    values = list(vars(model).values())
    for table in [one for one in values if type(one) is dict]:  # where TensorFlow 1.15 has them
        values += table.values()
    for value in values:
        cells = getattr(value, "__closure__", None) or ()
        found += [one for one in (value, *map(_content, cells)) if isinstance(one, kind)]
    return found


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has no value yet
        return None


def variable_bytes(variable: Any) -> int:
    """What a variable weighs; 0 where its shape is not known."""
    return int(variable.shape.num_elements() or 0) * int(variable.dtype.size)


def constant_bytes(operation: Any) -> int:
    """What a constant of a graph weighs; 0 where its shape or size is not known."""
    value = operation.outputs[0]
    return int(value.shape.num_elements() or 0) * int(value.dtype.size or 0)


def device_memory() -> Dict[str, int]:
    """Bytes in use on each device that has an allocator of its own, by name; starts no runtime."""
    if not is_used():
        return {}
    context = find("context").value()
    found = {}
    for device in getattr(context, "list_logical_devices", list)():
        if device.device_type == "CPU":
            continue  # its memory is malloc's, and it answers zeros
        try:
            found[str(device.name)] = int(context.get_memory_info(device.name)["current"])
        except Exception:
            continue  # it has no allocator that can be asked
    return found


def clear_sessions() -> List[str]:
    """Call `clear_session` of every Keras that has been imported, and of TensorFlow's own; their names."""
    cleared: List[str] = []
    for name in ("keras", "tf_keras", "tensorflow"):
        module = sys.modules.get(name)
        if name == "tensorflow" and not cleared:
            module = getattr(module, "keras", None)
        backend = getattr(module, "backend", None)
        for holder in (backend, getattr(module, "utils", None)):
            clear = getattr(holder, "clear_session", None)
            if clear is not None:
                clear()
                cleared.append(name)
                break
    return cleared


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


def clear_kernel_cache() -> None:
    """Empty the cache of eager kernels."""
    if not is_used():
        raise Unavailable("TensorFlow has not been used yet")
    context = find("context").value()
    if hasattr(context, "clear_kernel_cache"):
        context.clear_kernel_cache()
    else:
        find("context_caches_clear").value(context._handle)


def clear_scalar_cache() -> None:
    """Empty the cache of tensors made from Python numbers."""
    find("scalar_cache_clear").value()
