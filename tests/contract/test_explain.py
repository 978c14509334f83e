"""Why a function was traced again: each way in which two calls can differ, on each TensorFlow."""

import collections
import contextlib
import enum
import functools

import numpy as np
import pytest

import tfmemwatch
from tfmemwatch.probes.traces import Traces

Pair = collections.namedtuple("Pair", "left right")


class Config:
    def __init__(self, rate=1.0):
        self.rate = rate

    def loss(self, x):
        return x


class Other(Config):
    pass


class Slotted:
    __slots__ = ("rate",)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Mode(enum.IntEnum):
    TRAIN = 1
    SERVE = 2


class Rate(float):
    """A number that has attributes, none of which is the number."""


def make_function():
    def scaled(x):
        return x

    return scaled


def call(*args, **kwargs):
    """What one call of the function is given."""
    return args, kwargs


class Row:
    """Two calls that differ in one way, and how that is told."""

    def __init__(self, name, first, second, *told, **options):
        self.name, self.calls, self.told = name, (first, second), told
        self.old = options.pop("old", None)  # told differently where TensorFlow has no types for arguments
        self.options = options


ROWS = [
    # tensors
    Row("batch size", lambda tf: call(tf.ones((4, 3))), lambda tf: call(tf.ones((5, 3))), ("x", "batch", "")),
    Row("inner size", lambda tf: call(tf.ones((4, 3))), lambda tf: call(tf.ones((4, 2))), ("x", "size", "1")),
    Row("length", lambda tf: call(tf.ones(4)), lambda tf: call(tf.ones(5)), ("x", "size", "0")),
    Row("two sizes", lambda tf: call(tf.ones((4, 3))), lambda tf: call(tf.ones((5, 2))), ("x", "size", "0 and 1")),
    Row("rank", lambda tf: call(tf.ones((4,))), lambda tf: call(tf.ones((4, 1))), ("x", "rank", "")),
    Row("dtype", lambda tf: call(tf.ones(4)), lambda tf: call(tf.ones(4, tf.float64)), ("x", "dtype", "")),
    Row("NumPy dtype", lambda tf: call(np.ones(4, "f4")), lambda tf: call(np.ones(4, "i4")), ("x", "dtype", "")),
    Row("NumPy batch", lambda tf: call(np.ones((4, 3))), lambda tf: call(np.ones((5, 3))), ("x", "batch", "")),
    Row("dtype and batch", lambda tf: call(tf.ones((4, 2))), lambda tf: call(tf.ones((5, 2), tf.int32)),
        ("x", "dtype", ""), ("x", "batch", "")),
    # Python values
    Row("float", lambda tf: call(0.1), lambda tf: call(0.2), ("x", "value", "float")),
    Row("int", lambda tf: call(1), lambda tf: call(2), ("x", "value", "int")),
    Row("str", lambda tf: call("a"), lambda tf: call("b"), ("x", "value", "str")),
    Row("bytes", lambda tf: call(b"a"), lambda tf: call(b"b"), ("x", "value", "bytes")),
    Row("complex", lambda tf: call(1j), lambda tf: call(2j), ("x", "value", "complex")),
    Row("bool", lambda tf: call(True), lambda tf: call(False), ("x", "switch", "bool")),
    Row("range", lambda tf: call(range(3)), lambda tf: call(range(4)), ("x", "value", "range"), needs="types"),
    Row("float, then int", lambda tf: call(0.5), lambda tf: call(2),
        ("x", "type", "a Python int, before a Python float")),
    Row("None, then tensor", lambda tf: call(None), lambda tf: call(tf.ones(2)), ("x", "none", "")),
    Row("None, then value", lambda tf: call(None), lambda tf: call(3), ("x", "none", "")),
    Row("tensor, then float", lambda tf: call(tf.ones(())), lambda tf: call(1.0),
        ("x", "type", "a Python float, before a tensor")),
    # objects
    Row("object", lambda tf: call(Config(1.0)), lambda tf: call(Config(2.0)), ("x", "object", "Config")),
    Row("object of the same content", lambda tf: call(Config()), lambda tf: call(Config()), ("x", "copy", "Config")),
    Row("object without weak references", lambda tf: call(Slotted()), lambda tf: call(Slotted()),
        ("x", "object", "Slotted"), keep=True),
    Row("object of another class", lambda tf: call(Config()), lambda tf: call(Other()),
        ("x", "class", "a Other, before a Config")),
    Row("function", lambda tf: call(make_function()), lambda tf: call(make_function()),
        ("x", "function", "function scaled")),
    Row("lambda", lambda tf: call(lambda x: x), lambda tf: call(lambda x: x), ("x", "function", "lambda")),
    Row("bound method", lambda tf: call(KEPT.loss), lambda tf: call(KEPT.loss),
        ("x", "method", "method Config.loss")),
    Row("partial", lambda tf: call(functools.partial(min, 1)), lambda tf: call(functools.partial(min, 1)),
        ("x", "partial", "functools.partial of min")),
    Row("member of an enum", lambda tf: call(Color.RED), lambda tf: call(Color.BLUE), ("x", "value", "Color")),
    Row("member that is a number", lambda tf: call(Mode.TRAIN), lambda tf: call(Mode.SERVE), ("x", "value", "Mode")),
    Row("class", lambda tf: call(int), lambda tf: call(float), ("x", "value", "type")),
    Row("DType", lambda tf: call(tf.float32), lambda tf: call(tf.int32), ("x", "value", "DType")),
    Row("number of a class of its own", lambda tf: call(Rate(1)), lambda tf: call(Rate(2)), ("x", "object", "Rate"),
        keep=True),
    Row("NumPy number, then Python's", lambda tf: call(np.float32(1)), lambda tf: call(2.0),
        ("x", "type", "a Python float, before a tensor"),
        old=(("x", "type", "a Python float, before a Python float32"),)),
    Row("NumPy bool, then None", lambda tf: call(np.bool_(True)), lambda tf: call(None), ("x", "none", "")),
    # in collections
    Row("item of a list", lambda tf: call([tf.ones(2), 1]), lambda tf: call([tf.ones(2), 2]),
        ("x[1]", "value", "int")),
    Row("item of a tuple", lambda tf: call((tf.ones((1, 2)), 1)), lambda tf: call((tf.ones((2, 2)), 1)),
        ("x[0]", "batch", "")),
    Row("item of a dict", lambda tf: call({"a": tf.ones((1, 2)), "b": [1, 2]}),
        lambda tf: call({"b": [1, 3], "a": tf.ones((1, 2))}), ('x["b"][1]', "value", "int")),
    Row("field of a named tuple", lambda tf: call(Pair(1, 2)), lambda tf: call(Pair(1, 3)),
        ("x.right", "value", "int")),
    Row("length of a list", lambda tf: call([1, 2]), lambda tf: call([1, 2, 3]), ("x", "length", "")),
    Row("keys of a dict", lambda tf: call({"a": 1}), lambda tf: call({"b": 1}), ("x", "keys", "")),
    Row("tuple, then list", lambda tf: call((1, 2)), lambda tf: call([1, 2]),
        ("x", "type", "a list, before a tuple"), needs="types"),
    Row("deep inside", lambda tf: call({"a": [{"b": (1, tf.ones(2))}]}),
        lambda tf: call({"a": [{"b": (1, tf.ones(3))}]}), ('x["a"][0]["b"][1]', "size", "0")),
    # which arguments
    Row("keyword given", lambda tf: call(1), lambda tf: call(1, extra=2), ("extra", "given", "")),
    Row("keyword left out", lambda tf: call(1, extra=2), lambda tf: call(1), ("extra", "left out", "")),
    Row("other keyword", lambda tf: call(1, a=2), lambda tf: call(1, b=2), ("b", "given", ""), ("a", "left out", "")),
    Row("number of arguments", lambda tf: call(1, 2, 3, 4), lambda tf: call(1, 2, 3, 4, 5), ("*rest", "count", ""),
        old=(("*args", "count", ""),)),
    Row("default and given", lambda tf: call(1), lambda tf: call(1, 7), ("y", "none", "")),
    Row("given by keyword", lambda tf: call(1, y=3), lambda tf: call(1, y=4), ("y", "value", "int")),
    Row("two arguments", lambda tf: call(1, 2), lambda tf: call(2, 3), ("x", "value", "int"), ("y", "value", "int")),
    # TensorFlow's own
    Row("variables", lambda tf: call(tf.Variable(1.0)), lambda tf: call(tf.Variable([1.0])), ("x", "rank", ""),
        old=(("x", "object", "variable"),), keep=True),
    Row("trainable", lambda tf: call(tf.Variable(1.0)), lambda tf: call(tf.Variable(1.0, trainable=False)),
        ("x", "trainable", ""), old=(), keep=True),
    Row("variable, then tensor", lambda tf: call(tf.Variable(1.0)), lambda tf: call(tf.constant(1.0)),
        ("x", "variable", ""), old=(("x", "type", "a tensor, before a variable"),), keep=True),
    Row("the same variable twice", lambda tf: call(tf.Variable(1.0), tf.Variable(1.0)), lambda tf: twice(tf),
        ("y", "alias", ""), needs="types", keep=True),
    Row("ragged", lambda tf: call(tf.ragged.constant([[1], [2, 3]])), lambda tf: call(tf.ragged.constant([[1.0], []])),
        ("x", "class", "a float32 RaggedTensorSpec, before a int32 RaggedTensorSpec"), needs="types"),
    Row("ragged rows", lambda tf: call(tf.ragged.constant([[1], [2, 3]])), lambda tf: call(tf.ragged.constant([[1]])),
        ("x", "batch", ""), needs="types"),
    Row("sparse", lambda tf: call(tf.sparse.from_dense([[1, 0]])), lambda tf: call(tf.sparse.from_dense([[1, 0, 0]])),
        ("x", "size", "1"), needs="types"),
    Row("iterator", lambda tf: call(numbers(tf, 2)), lambda tf: call(numbers(tf, 3)), ("x", "batch", ""),
        needs="types", keep=True),
    Row("dataset", lambda tf: call(numbers(tf, 2, iter=lambda one: one)),
        lambda tf: call(numbers(tf, 3, iter=lambda one: one)), ("x", "batch", ""), needs="types", keep=True),
    Row("TensorShape", lambda tf: call(tf.TensorShape([1, 2])), lambda tf: call(tf.TensorShape([1, 3])),
        ("x", "object", "TensorShape"), needs="types", keep=True),
    Row("tensor of an extension type", lambda tf: call(masked(tf, (1, 2), "a")),
        lambda tf: call(masked(tf, (2, 2), "a")), ("x.values", "batch", ""), needs="types"),
    Row("value of an extension type", lambda tf: call(masked(tf, (1, 2), "a")),
        lambda tf: call(masked(tf, (1, 2), "b")), ("x.name", "value", "str"), needs="types"),
    Row("TensorSpec", lambda tf: call(tf.TensorSpec([2, None])), lambda tf: call(tf.TensorSpec([3, None])),
        ("x", "batch", ""), concrete=True),
]  # fmt: skip

KEPT = Config()


@functools.lru_cache(maxsize=None)
def masked_class(tf):
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        name: str

    return Masked


def masked(tf, shape, name):
    return masked_class(tf)(tf.ones(shape), name)


def twice(tf):
    variable = tf.Variable(1.0)
    return call(variable, variable)


def numbers(tf, size, iter=iter):
    return iter(tf.data.Dataset.from_tensors(tf.ones((size, 3))))


@pytest.fixture
def reasons(watch):
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    return probe.reasons


def told(reasons, name="target"):
    """All reasons for which a function of this name was traced again."""
    reasons.compare_waiting()
    found = []
    for account in reasons._accounts.values():
        if account.function == name:
            found += [tuple(one.key for one in count.differences) for count in account.counts.values()]
    return found


def has_types(tf):
    return hasattr(tf, "types") and hasattr(tf.types.experimental, "TraceType")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_argument_and_how_it_differs_are_named(tf, reasons, failures, row):
    """Two calls that differ in one way: that argument, by its path, and in what it differs."""
    if row.options.get("needs") == "types" and not has_types(tf):
        pytest.skip("this TensorFlow does not tell these apart")

    @tf.function(autograph=False)
    def target(x, y=None, *rest, **named):
        return tf.constant(1)

    kept = []
    for make in row.calls:
        args, kwargs = make(tf)
        kept.append(args if row.options.get("keep") else None)
        (target.get_concrete_function if row.options.get("concrete") else target)(*args, **kwargs)
        del args, kwargs
    wanted = row.old if row.old is not None and not has_types(tf) else row.told
    assert told(reasons) == ([wanted] if wanted else [])
    assert failures == {}


def in_graph(tf):
    return tf.Graph().as_default()


def nowhere(tf, graph):
    return contextlib.nullcontext()


def in_this_graph(tf, graph):
    return graph.as_default()


@contextlib.contextmanager
def colocated(tf, graph):
    with graph.as_default(), graph.colocate_with(tf.constant(1.0).op):
        yield


@contextlib.contextmanager
def on_a_device(tf, graph):
    with graph.as_default(), graph.device(lambda operation: "/cpu:0"):
        yield


@contextlib.contextmanager
def in_xla(tf, graph):
    from tensorflow.python.ops import control_flow_ops

    class Compiled(control_flow_ops.XLAControlFlowContext):
        def RequiresUniqueFunctionRetracing(self):
            return True

    compiled = Compiled()
    with graph.as_default():
        compiled.Enter()
        try:
            yield
        finally:
            compiled.Exit()


def saved(tf, graph):
    from tensorflow.python.saved_model import save_context

    policy = tf.saved_model.experimental.VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES
    return save_context.save_context(tf.saved_model.SaveOptions(experimental_variable_policy=policy))


CONTEXTS = [
    ("another graph", nowhere, lambda tf, graph: in_graph(tf), "graph", ""),
    ("a second graph", in_this_graph, lambda tf, graph: in_graph(tf), "graph", ""),
    ("a colocation", in_this_graph, colocated, "colocation", ""),
    ("another colocation", colocated, colocated, "colocation", ""),
    ("a device", in_this_graph, on_a_device, "device", ""),
    ("XLA", in_this_graph, in_xla, "xla", "types"),
    ("a second XLA context", in_xla, in_xla, "xla", "types"),
    ("a variable policy", nowhere, saved, "policy", "types"),
]


@pytest.mark.parametrize("row", CONTEXTS, ids=lambda row: row[0])
def test_another_context_is_named(tf, reasons, failures, row):
    """The same arguments in another graph, beside another operation, on another device, in XLA, in a save."""
    if row[4] and not has_types(tf):
        pytest.skip("this TensorFlow does not trace anew for it")

    @tf.function(autograph=False)
    def target(x):
        return x

    graph, kept = tf.Graph(), []
    for place in row[1:3]:
        with place(tf, graph) as one:
            kept.append(one)
            target(2)
    assert told(reasons) == [(("", row[3], ""),)]
    assert failures == {}


def test_another_precision_of_a_layer_is_named(tf, reasons, failures):
    """Mixed precision is in no context: a layer keeps its own, so it is a new layer that is traced anew."""
    if not hasattr(tf.keras.layers, "Dense"):
        pytest.skip("no Keras")

    @tf.function(autograph=False)
    def target(layer):
        return tf.constant(1)

    kept = [tf.keras.layers.Dense(1, dtype=dtype) for dtype in ("float32", "float64", "float64")]
    for layer in kept:
        target(layer)
    assert told(reasons) == [(("layer", "precision", "Dense"),), (("layer", "object", "Dense"),)]
    examples = [account.sorted for account in reasons._accounts.values() if account.function == "target"]
    assert examples[0][0].differences[0].example == "layer: a Dense (float32) → a Dense (float64)"
    assert failures == {}


def test_another_replica_context_and_device_are_named(tf, reasons, failures):
    """Called by a strategy for each of its devices: the second device is what differs."""

    @tf.function(autograph=False)
    def target(x):
        return x

    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        target(2)
    target(2)
    causes = {cause for reason in told(reasons) for _, cause, _ in reason}
    assert causes and causes <= {"replica", "device", "strategy"}
    assert failures == {}


def test_shapes_that_are_left_open_are_compared_with_what_was_traced(tf, reasons):
    """With reduce_retracing, only what does not fit the wider trace is told."""
    if not has_types(tf):
        pytest.skip("this TensorFlow tells nothing of what it relaxes")

    @tf.function(reduce_retracing=True, autograph=False)
    def target(x):
        return x

    for shape in ((1, 3), (2, 3), (3, 3), (4, 7), (5, 9)):
        target(tf.ones(shape))
    assert told(reasons) == [(("x", "batch", ""),), (("x", "size", "1"),)]


def test_in_a_storm_of_traces_another_reason_is_seen(tf, watch, reasons, failures):
    """After 128 of the same, one of four is looked at: the count is that of all, and what comes then is named."""

    @tf.function(autograph=False)
    def target(x, rate):
        return x

    def causes():
        found = collections.Counter()
        for account in reasons._accounts.values():
            for count in account.counts.values():
                found[count.differences[0].path] += count.times
        return found

    x = tf.ones(2)
    for number in range(401):
        target(x, number / 3)
        if number % 50 == 0:
            reasons.compare_waiting()
    reasons.compare_waiting()
    assert causes() == {"rate": 400}
    for size in range(3, 43):
        target(tf.ones(size), 0.0)
        reasons.compare_waiting()
    assert sum(causes().values()) == 440
    assert 36 <= causes()["x"] <= 40
    assert failures == {}


class Hostile:
    """Raises, whatever is asked of it that TensorFlow does not ask."""

    def __repr__(self):
        raise RuntimeError("repr")

    __str__ = __repr__

    def __eq__(self, other):
        raise RuntimeError("eq")

    def __hash__(self):
        return 7

    def __bool__(self):
        raise RuntimeError("bool")

    def __len__(self):
        raise RuntimeError("len")


class Quiet(Hostile):
    """Remembers what it was asked for."""

    seen = ()

    def __getattribute__(self, name):
        Quiet.seen += (name,)
        return super().__getattribute__(name)


def asked_of_arguments(tf):
    """What is asked of two hostile arguments in two calls."""

    @tf.function(autograph=False)
    def target(x):
        return tf.constant(1)

    thing, other = Quiet(), Quiet()
    Quiet.seen = ()
    with contextlib.suppress(RuntimeError):
        target(thing)
        target(other)
    current = tfmemwatch.current()
    if current is not None:
        current.state.read()
    return Quiet.seen


def test_no_code_of_an_argument_is_run(tf, watch, failures):
    """An argument that can be neither printed nor compared is asked for nothing that TensorFlow does not ask for."""
    asked_of_arguments(tf)  # isinstance remembers classes
    watched = asked_of_arguments(tf)
    tfmemwatch.uninstall()
    assert watched == asked_of_arguments(tf)
    assert failures == {}


def test_what_an_argument_says_is_not_told(tf, watch, reasons):
    """A secret given as an argument is in no text, unless values are allowed."""

    @tf.function(autograph=False)
    def target(x, options):
        return tf.constant(1)

    for number in range(3):
        target("secret-%d" % number, {"key": "hidden-%d" % number, "to@ken": 1})
    reasons.compare_waiting()
    text = repr([(account.function, [count.differences for count in account.counts.values()])
                 for account in reasons._accounts.values()])  # fmt: skip
    assert "secret" not in text and "hidden" not in text and "to@ken" not in text
    assert told(reasons) == [(("x", "value", "str"), ('options["key"]', "value", "str"))]


def test_a_value_that_is_allowed_is_shown_in_80_characters(tf):
    """With values=True an example shows old and new value, shortened."""
    tfmemwatch.install(values=True, sample_seconds=3600, log=False)

    @tf.function(autograph=False)
    def target(x, rate):
        return tf.constant(1)

    for letter, rate in (("a", 0.5), ("b", 0.25)):
        target(letter * 1000, rate)
    (probe,) = [probe for probe in tfmemwatch.current().probes if isinstance(probe, Traces)]
    probe.reasons.compare_waiting()
    ((count,),) = [account.counts.values() for account in probe.reasons._accounts.values()]
    text, rate = [one.example for one in count.differences]
    assert rate == "rate: Python float 0.5 → Python float 0.25"
    assert "b" * 70 in text and "b" * 80 not in text


@pytest.mark.parametrize("other", [Other, None], ids=["another class", "a tensor"])
def test_a_trace_is_compared_with_one_of_its_own_kind(tf, reasons, failures, other):
    """Two callers in turn, each with a new object: that it is new is the cause, not that the other's differs."""

    @tf.function(autograph=False)
    def target(x):
        return tf.constant(1)

    kept = []
    for number in range(4):
        for make in (Config, other or (lambda rate: tf.constant([0.0] * (rate + 1)))):
            kept.append(make(number))
            target(kept[-1])
    counted = told(reasons)
    assert (("x", "object", "Config"),) in counted
    assert len(counted) == 3 == len({cause for reason in counted for _, cause, _ in reason}) + (other is not None)
