"""A TensorFlow of ten lines a module: only what `places.PLACES` names, where it names it.

The sources are written to files, so that the fake is imported, found by import hooks and seen on the stack as
the real one is. The contract tests run the same claims on the real one and keep this one honest.
"""

SOURCES = {
    "tensorflow/__init__.py": """
from tensorflow.python.client import session
from tensorflow.python.data.ops import dataset_ops, iterator_ops, structured_function
from tensorflow.python.eager import backprop, context
from tensorflow.python.eager.polymorphic_function import concrete_function, polymorphic_function
from tensorflow.python.framework import func_graph, ops, random_seed, registry
from tensorflow.python.ops import cond_v2, data_flow_ops, lookup_ops, resource_variable_ops, script_ops
from tensorflow.python.summary.writer import event_file_writer
__version__ = "2.99-fake"
""",
    "tensorflow/python/framework/registry.py": """
class Registry:
    def __init__(self):
        self._registry = {}

    def register(self, candidate, name=None):
        self._registry[name] = candidate
""",
    "tensorflow/python/framework/ops.py": """
from tensorflow.python.framework import registry

class Operation:
    def __init__(self, graph, traceback, type="NoOp"):
        self.graph, self.traceback, self.type, self.outputs = graph, traceback, type, []

class Graph:
    def __init__(self):
        self.version, self.operations = 0, []

    def get_operations(self):
        return list(self.operations)

    def add(self, file, line, function):
        self.operations.append(Operation(self, [(file, line, function, "")]))
        self.version += 1

class EagerTensor:
    pass

def get_default_graph():
    return None
gradient_registry = registry.Registry()
""",
    "tensorflow/python/framework/func_graph.py": """
from tensorflow.python.framework import ops

class FuncGraph(ops.Graph):
    def __init__(self, name):
        super().__init__()
        self.name = name

def func_graph_from_py_func(name, python_func, args=(), kwargs=None, signature=None, func_graph=None):
    graph = FuncGraph(name) if func_graph is None else func_graph
    python_func(*args)
    return graph
""",
    "tensorflow/python/framework/random_seed.py": """
def get_seed(op_seed):
    return (None, None) if op_seed is None else (7, op_seed)
""",
    "tensorflow/python/ops/cond_v2.py": """
from tensorflow.python.framework import func_graph

class CondBranchFuncGraph(func_graph.FuncGraph):
    pass

def cond(branch):
    graph = CondBranchFuncGraph("cond_true")
    return func_graph.func_graph_from_py_func("cond_true", branch, func_graph=graph)
""",
    "tensorflow/python/eager/context.py": """
_context = None
eagerly = True

def context():
    return _context

def executing_eagerly():
    return eagerly
""",
    "tensorflow/python/eager/polymorphic_function/polymorphic_function.py": """
from tensorflow.python.framework import func_graph

class Function:
    def __init__(self, python_function, name="step"):
        self._python_function, self._name, self._graphs = python_function, name, {}
        self._created_variables = None

    def __call__(self, *args):
        if args not in self._graphs:
            self._graphs[args] = self._trace(args)
        return self._graphs[args]

    def _trace(self, args):
        return func_graph.func_graph_from_py_func(self._name, self._python_function, args)
""",
    "tensorflow/python/eager/polymorphic_function/concrete_function.py": """
class ConcreteFunction:
    _attrs = {}
    _func_graph = None

    def __init__(self):
        self.called = []

    def _call_flat(self, args, captured_inputs=()):
        return args

    def __call__(self, *args, **kwargs):
        return args
""",
    "tensorflow/python/eager/backprop.py": """
class GradientTape:
    def __init__(self, persistent=False):
        self._persistent = persistent

    def __enter__(self):
        self._push_tape()
        return self

    def __exit__(self, *error):
        self._pop_tape()

    def _push_tape(self):
        pass

    def _pop_tape(self):
        pass
""",
    "tensorflow/python/ops/resource_variable_ops.py": """
class Shape(tuple):
    def num_elements(self):
        return self[0] * self[1]

class DType:
    size = 4

class BaseResourceVariable:
    __hash__ = None  # like the real one: can be neither hashed nor compared

    def __init__(self, name="Variable", shape=(2, 3), in_graph_mode=False):
        self._handle_name, self._in_graph_mode = name + ":0", in_graph_mode
        self.shape, self.dtype = Shape(shape), DType

    def __eq__(self, other):
        raise TypeError("elementwise")

class _UnreadVariable(BaseResourceVariable):
    pass
""",
    "tensorflow/python/ops/data_flow_ops.py": """
class QueueBase:
    def __init__(self, name="queue"):
        self.name = name
""",
    "tensorflow/python/ops/lookup_ops.py": """
class LookupInterface:
    def __init__(self, key_dtype=None, value_dtype=None):
        self.key_dtype = key_dtype
""",
    "tensorflow/python/ops/script_ops.py": """
class FuncRegistry:
    def __init__(self):
        self._funcs = {}

    def insert(self, func):
        self._funcs["pyfunc_%d" % len(self._funcs)] = func

    def size(self):
        return len(self._funcs)

_py_funcs = FuncRegistry()
""",
    "tensorflow/python/client/session.py": """
from tensorflow.python.framework import ops

class BaseSession:
    def __init__(self, target="", graph=None):
        self._graph, self._closed = graph or ops.Graph(), False

    def run(self, fetches, feed_dict=None):
        return fetches

    def close(self):
        self._closed = True

    def __del__(self):
        self.close()
""",
    "tensorflow/python/data/ops/iterator_ops.py": """
class OwnedIterator:
    def __init__(self, dataset=None):
        self._dataset = dataset
""",
    "tensorflow/python/data/ops/dataset_ops.py": """
class DatasetV2:
    def cache(self, filename=""):
        return DatasetV2()
""",
    "tensorflow/python/data/ops/structured_function.py": """
from tensorflow.python.framework import func_graph

class StructuredFunctionWrapper:
    def __init__(self, func):
        self._graph = func_graph.func_graph_from_py_func("Dataset_map", func)
""",
    "tensorflow/python/summary/writer/event_file_writer.py": """
class EventFileWriter:
    def __init__(self, logdir=""):
        self._closed = False

    def close(self):
        self._closed = True
""",
    "keras/__init__.py": """
from keras.src.models import model
from keras.src.optimizers import base_optimizer
Model = model.Model
""",
    "keras/src/optimizers/base_optimizer.py": """
class BaseOptimizer:
    def __init__(self):
        self.iterations = 0
""",
    "keras/src/models/model.py": """
class Layer:
    def __call__(self, value):
        return self.call(value)

    def call(self, value):
        return value

class Model(Layer):
    name = "fake"

    def __init__(self, inner=None):
        self.inner = inner

    def compile(self):
        pass

    def call(self, value):
        return value if self.inner is None else self.inner(value)

    def predict(self, value):
        return [self(one) for one in value]
""",
}


def write(folder):
    """Write the fake where an import finds it: in a `site-packages` folder, no project of the user's."""
    for name, source in SOURCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    for path in list(folder.rglob("*.py")):
        for package in path.relative_to(folder).parents:
            (folder / package / "__init__.py").touch()
    (folder / "__init__.py").unlink()
    return folder
