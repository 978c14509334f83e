"""Where TensorFlow keeps things: each is named once, with every place it has lived, and the first that exists wins.

Nothing here asks for a version.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ..errors import Unavailable

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
    "session_run_hook": ("~training.session_run_hook:SessionRunHook",),
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
    raise Unavailable("no %s at any of %s" % (what, ", ".join(place.replace("~", root()) for place in PLACES[what])))


def has(what: str) -> bool:
    """Whether this TensorFlow has it at all."""
    return any(_at(place) is not None for place in PLACES[what])


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
