"""An ordinary program, in sections: run bare and watched, it must print and fail the same.

python ordinary_program.py bare|before|after ENDING [SECTION ...]
prints what it sees; each section is marked on stdout and stderr.
"""
# ruff: noqa: B023, E402  (attempt() calls at once what it is given; the watch may come before TensorFlow)

import copy
import functools
import inspect
import logging
import os
import pickle
import random
import re
import sys
import tempfile
import traceback
import warnings
import weakref

SIDE, ENDING = sys.argv[1:3]

if SIDE == "before":
    import tfmemwatch

    tfmemwatch.install(sample_seconds=0.5)
warnings.simplefilter("default")
import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
tf1 = tf.compat.v1
tf = tf if hasattr(tf.random, "set_seed") else tf.compat.v2
keras = tf.keras
Model = keras.Model
_cpu = tf.config.experimental.list_physical_devices("CPU")[0]
tf.config.experimental.set_virtual_device_configuration(_cpu, [tf.config.experimental.VirtualDeviceConfiguration()] * 2)

if SIDE == "after":
    import tfmemwatch

    tfmemwatch.install(sample_seconds=0.5)


def shown(value):
    """A value as text that does not depend on the last bits."""
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(shown, value))
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (key, shown(one)) for key, one in sorted(value.items()))
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (float, np.floating, np.ndarray)):
        return np.array2string(np.asarray(value), precision=3, suppress_small=True)
    return str(value)


def show(what, value):
    print("%s: %s" % (what, shown(value)))


def attempt(what, function):
    """Show what a function gives, or how it fails: type, message, and every frame."""
    try:
        show(what, function())
    except BaseException as error:
        print("%s: %s: %s" % (what, type(error).__name__, error))
        for frame in traceback.extract_tb(sys.exc_info()[2]):
            file = re.sub(r"(generated_file)\w+", r"\1", os.path.basename(frame.filename))
            print("   ", file, frame.name, frame.line)


def data():
    tf.random.set_seed(1)
    np.random.seed(1)
    random.seed(1)
    return np.linspace(0, 1, 16, dtype=np.float32).reshape(8, 2), np.linspace(1, 0, 8, dtype=np.float32).reshape(8, 1)


class Doubles(Model):
    """A subclassed model."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, x, training=False, model=None):
        return self.dense(x * 2 + 1)


class Branches(Doubles):
    """With code for AutoGraph."""

    def build(self, shape=None):
        self.built = True

    def call(self, x):
        if tf.reduce_sum(x) > 0:
            x = x * 2
        for _ in tf.range(2):
            x = x + 1
        return x


def functional():
    x = keras.Input((2,))
    return Model(x, keras.layers.Dense(1, kernel_initializer="ones")(x))


def sequential():
    return keras.Sequential([keras.layers.InputLayer((2,)), keras.layers.Dense(1, kernel_initializer="ones")])


# -- the sections


def autograph():
    model, x = Doubles(), tf.ones((1, 2))
    model(x)

    @tf.function
    def explicit(x):
        if tf.reduce_sum(x) > 1:
            return model.__call__(x)
        return model(x)

    attempt("explicit __call__", lambda: explicit(x))
    branches = Branches()
    attempt("branches", lambda: branches(x))
    attempt("branches in a function", lambda: tf.function(lambda x: branches(x))(x))
    attempt("explicit branches in a function", lambda: tf.function(lambda x: branches.__call__(x))(x))
    attempt("function of a bound __call__", lambda: tf.function(model.__call__)(x))
    attempt("function of a model", lambda: tf.function(model)(x))
    attempt("model in a loop", lambda: tf.function(loop)(model, x))
    concrete = explicit.get_concrete_function(tf.TensorSpec((1, 2), tf.float32))
    attempt("concrete in a function", lambda: tf.function(lambda x: concrete(x) + 1)(x))
    attempt("variable in a function", lambda: tf.function(makes_variable)(x))
    attempt("iterator in a function", lambda: tf.function(counts_data)(tf.data.Dataset.range(4)))
    attempt("tape in a function", lambda: tf.function(slope)(x))
    attempt("seeds in a function", lambda: tf.function(lambda: tf.random.normal([1], seed=3))())


def loop(model, x):
    y = tf.zeros((1, 1))
    for number in tf.range(3):
        if number > 0:
            y = y + model.__call__(x)
    return y


KEPT = []


def makes_variable(x):
    if not KEPT:
        KEPT.append(tf.Variable(1.0))
    return x + KEPT[0]


def counts_data(dataset):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        total += x
    return total


def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def saved_model():
    x, _ = data()
    folder = tempfile.mkdtemp()
    module = tf.Module()
    module.v = tf.Variable(2.0)
    module.run = tf.function(lambda x: {"y": x * module.v}, input_signature=[tf.TensorSpec([None], tf.float32, "x")])
    tf.saved_model.save(module, folder, signatures=module.run)
    loaded = tf.saved_model.load(folder)
    attempt("signature", lambda: loaded.signatures["serving_default"](x=tf.ones(2)))
    attempt("structured", lambda: loaded.signatures["serving_default"].structured_outputs)
    attempt("wrong argument", lambda: loaded.signatures["serving_default"](z=tf.ones(2)))
    attempt("restored function", lambda: loaded.run(tf.ones(2)))
    for make in (functional, Doubles):
        model = make()
        model(x)
        folder = tempfile.mkdtemp()
        attempt("save %s" % make.__name__, lambda: tf.saved_model.save(model, folder))
        attempt("load", lambda: sorted(tf.saved_model.load(folder).signatures))
        if hasattr(model, "export"):
            folder = tempfile.mkdtemp()
            attempt("export", lambda: model.export(folder, verbose=False))
            attempt("serve", lambda: tf.saved_model.load(folder).serve(x))


def pickling():
    x, _y = data()
    model = sequential()
    model.compile("sgd", "mse")
    attempt("pickled model", lambda: pickle.loads(pickle.dumps(model)).predict(x, verbose=0))
    attempt("copied model", lambda: copy.deepcopy(model).predict(x, verbose=0))
    attempt("cloned model", lambda: keras.models.clone_model(model).predict(x, verbose=0))
    attempt("copied variable", lambda: copy.deepcopy(tf.Variable(3.0)))
    for name in "fit predict __call__ compile evaluate train_on_batch".split():
        function = getattr(Model, name)
        method = getattr(model, name)
        attempt("pickled " + name, lambda: pickle.loads(pickle.dumps(function)) is function)
        attempt("copied " + name, lambda: copy.copy(function) is copy.deepcopy(function) is function)
        attempt("pickled bound " + name, lambda: pickle.loads(pickle.dumps(method)).__name__)
        attempt("copied bound " + name, lambda: copy.deepcopy(method).__name__)
        attempt("partial " + name, lambda: pickle.loads(pickle.dumps(functools.partial(function, x))).args)
        attempt("weak " + name, lambda: weakref.WeakMethod(method)() == method)
        attempt("same " + name, lambda: [getattr(Model, name) is function, getattr(type(model), name) is function])
        attempt("type " + name, lambda: [type(function).__name__, type(method).__name__])
        if name != "__call__":  # it is inherited: a seam that pickles must have the name of where it stands
            attempt("text " + name, lambda: [repr(function).split(" at ")[0], repr(method).split(" at ")[0]])
    for function in (tf1.Session.run, tf1.Session.close, tf.Graph.__init__):
        attempt("pickled", lambda: pickle.loads(pickle.dumps(function)) is function)
        attempt("copied", lambda: copy.deepcopy(function) is function)


def argspec(function):
    """getfullargspec(), but for what is decorated: it does not look behind a decorator, and a seam is one more."""
    if inspect.signature(function, follow_wrapped=False) != inspect.signature(function):
        return "decorated"
    return inspect.getfullargspec(function)


def signatures():
    import tfmemwatch.seams.places as known

    places = [known.find(what) for what in sorted(known.PLACES) if known.has(what)]
    methods = "__init__ __call__ compile fit predict evaluate train_on_batch test_on_batch predict_on_batch".split()
    places += [known.Place(kind, name) for kind in (Model, keras.Sequential, Doubles) for name in methods]
    places += [
        known.Place(keras.optimizers.SGD, "__init__"),
        known.Place(tf1.Session, "run"),
    ]
    for place in places:
        thing = getattr(place.holder, place.attribute)
        if not inspect.isfunction(thing):
            continue
        print(getattr(place.holder, "__name__", ""), place.attribute)
        for ask in (
            inspect.signature, argspec, inspect.isfunction, inspect.ismethod, inspect.isroutine,
            inspect.isbuiltin, inspect.getdoc, inspect.getsource, inspect.iscoroutinefunction,
        ):  # fmt: skip
            attempt("    " + ask.__name__, lambda: str(ask(thing))[:100])
        for name in "__name__ __annotations__ __doc__".split():
            attempt("    " + name, lambda: getattr(thing, name, None))
    attempt("mocked", lambda: inspect.signature(__import__("unittest.mock").mock.create_autospec(Model.fit)))


def subclasses():
    x, y = data()

    class Session(tf1.Session):
        def run(self, *args, **kwargs):
            print("run")
            return super().run(*args, **kwargs)

        def close(self):
            print("close")
            super().close()

    class Between(keras.layers.Layer):
        def __call__(self, *args, **kwargs):
            print("between")
            return super().__call__(*args, **kwargs)

    class Diamond(Model, Between):
        def call(self, x):
            return x

    class Overrides(Doubles):
        def __call__(self, *args, **kwargs):
            print("call")
            return super().__call__(*args, **kwargs)

        def fit(self, *args, **kwargs):
            print("fit")
            return super().fit(*args, **kwargs)

        def predict(self, x, **kwargs):
            return Model.predict(self, x, **kwargs)

    with tf.Graph().as_default():
        with Session() as session:
            attempt("session", lambda: session.run(tf.constant(1.0)))
            show("kinds", [isinstance(session, tf1.Session), issubclass(Session, tf1.Session)])
        session.close()
    model = Overrides()
    model.compile("sgd", "mse")
    attempt("overridden", lambda: model.fit(x, y, verbose=0, epochs=1).history["loss"])
    attempt("predicted", lambda: model.predict(x, verbose=0))
    attempt("between", lambda: Diamond()(x[:1]))
    attempt("keyword", lambda: Doubles()(x[:1], model=1))
    attempt("keyword self", lambda: Model.predict(self=sequential(), x=x, verbose=0))
    show("kinds", [isinstance(model, Model), isinstance(sequential(), keras.Sequential), type(type(model)).__name__])
    show("variables", [isinstance(tf.Variable(1.0), tf.Variable), isinstance(tf.Variable(1.0), tf.Module)])
    show("mro", [kind.__name__ for kind in Overrides.__mro__])
    original = keras.layers.Layer.__call__

    def replaced(self, *args, **kwargs):
        print("replaced", type(self).__name__)
        return original(self, *args, **kwargs)

    model = sequential()
    keras.layers.Layer.__call__ = replaced
    attempt("layer replaced", lambda: model(x[:1]))
    keras.layers.Layer.__call__ = original
    attempt("as before", lambda: model(x[:1]))


def models():
    x, y = data()
    for make in (functional, sequential, Doubles):
        model = make()
        model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        show(make.__name__, model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history)
        show("evaluate", model.evaluate(x, y, verbose=0))
        show("predict", model.predict(x, verbose=0))
        show("batches", [model.train_on_batch(x, y), model.test_on_batch(x, y), model.predict_on_batch(x)])
        show("config", sorted(attempt_config(model)))
    model = Doubles()
    model.compile(keras.optimizers.Adam(0.1), "mse", run_eagerly=True)
    show("eagerly", model.fit(x, y, epochs=1, shuffle=False, verbose=0).history)
    show("verbose", model.predict(x, verbose=2))
    functional().summary()


def attempt_config(model):
    try:
        return model.get_config()
    except NotImplementedError:
        return ["no config"]


def mixed_precision():
    policies = getattr(keras, "mixed_precision", None)
    if not hasattr(policies, "set_global_policy"):
        return print("not here")
    x, y = data()
    policies.set_global_policy("mixed_float16")
    try:
        model = functional()
        model.compile("sgd", "mse")
        show("fit", model.fit(x, y, epochs=1, shuffle=False, verbose=0).history)
        show("dtypes", [str(model.compute_dtype), str(model.weights[0].dtype), str(model.predict(x, verbose=0).dtype)])
    finally:
        policies.set_global_policy("float32")


def distributed():
    x, y = data()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = sequential()
        model.compile("sgd", "mse")
    show("fit", model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history)
    show("weights", model.get_weights())


def compiled():
    try:
        step = tf.function(lambda x: x * 2 + 1, jit_compile=True)
    except TypeError:
        return print("not here")
    attempt("xla", lambda: [step(tf.ones(3)), step(tf.ones(4))])
    attempt("xla that can't be", lambda: tf.function(lambda x: tf.strings.join([x, x]), jit_compile=True)("a"))
    return None


def errors():
    x, y = data()

    class Fails(Model):
        def call(self, x):
            raise ValueError("no")

    @tf.function
    def fails(x):
        if tf.reduce_sum(x) > 0:
            raise KeyError("in a function")
        return x

    @tf.function
    def asserts(x):
        tf.debugging.assert_less(x, 0.0, message="not less")
        return tf.linalg.inv(x)

    def in_python(x):
        raise ZeroDivisionError("in Python")

    attempt("function", lambda: fails(tf.ones(1)))
    attempt("assertion", lambda: asserts(tf.ones(())))
    attempt("shapes", lambda: tf.matmul(tf.ones((1, 2)), tf.ones((3, 4))))
    attempt("py_function", lambda: tf.py_function(in_python, [1.0], tf.float32))
    attempt("map", lambda: list(tf.data.Dataset.range(2).map(lambda x: tf.py_function(in_python, [x], tf.int64))))
    for run_eagerly in (False, True):
        model = Fails()
        model.compile("sgd", "mse", run_eagerly=run_eagerly)
        attempt("fit", lambda: model.fit(x, y, verbose=0))
        attempt("predict", lambda: model.predict(x, verbose=0))
        attempt("evaluate", lambda: model.evaluate(x, y, verbose=0))
    attempt("call", lambda: Fails()(x))
    try:
        tf.function(Fails())(x)  # AutoGraph's list of what it converted has a line of the watch in it
    except ValueError as error:
        show("call in a function", "no" in str(error))
    attempt("no argument", lambda: sequential()())
    attempt("wrong shape", lambda: sequential()(tf.ones((1, 3))))
    attempt("wrong keyword", lambda: sequential().fit(x, y, wrong=1))
    attempt("uncompiled", lambda: sequential().fit(x, y))
    attempt("wrong loss", lambda: sequential().compile("sgd", wrong=1))
    attempt("variable of nothing", lambda: tf.Variable())
    attempt("variable of something odd", lambda: tf.Variable(object()))
    attempt("graph", lambda: tf.Graph(1))
    attempt("table", lambda: tf.lookup.StaticHashTable(1, 2))
    attempt("iterator", lambda: next(iter(tf.data.Dataset.range(0))))
    attempt("tape", lambda: tf.GradientTape().gradient(1, 1))
    attempt("closed tape", lambda: tf.GradientTape().__exit__(None, None, None))
    attempt("optimizer", lambda: keras.optimizers.SGD(wrong=1))


def warned():
    class Warns(Doubles):
        def __init__(self):
            warnings.warn("before", stacklevel=2)
            super().__init__()
            warnings.warn("after", stacklevel=2)

        def fit(self, *args, **kwargs):
            warnings.warn("fit", stacklevel=2)
            return super().fit(*args, **kwargs)

        def __call__(self, *args, **kwargs):
            warnings.warn("call", stacklevel=2)
            return super().__call__(*args, **kwargs)

    x, y = data()
    model = Warns()
    model(x)
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
    logging.getLogger("tensorflow").warning("said")
    tf1.to_float(1)
    tf.function(lambda x: tf1.to_int32(x))(1.0)
    keras.layers.Dense(1, input_shape=(2,))
    retraced = tf.function(lambda x: x)
    for number in range(8):
        retraced(number)
    with tf.Graph().as_default():
        tf1.get_variable("v", [1], use_resource=True)
        tf1.get_variable("w", [1], use_resource=False, constraint=lambda x: x)
        tf1.Session()
        sessions = [tf1.InteractiveSession() for _ in range(2)]
        for session in reversed(sessions):
            session.close()


def graphs():
    with tf.Graph().as_default():
        v = tf1.get_variable("v", [2], use_resource=True)
        x = tf1.placeholder(tf.float32, [None], name="x")
        with tf1.Session() as session:
            attempt("uninitialized", lambda: session.run(v))
            session.run(tf1.global_variables_initializer())
            show("run", session.run([x + 1, {"v": tf.shape(v)}], {x: [1.0]}))
            attempt("unfed", lambda: session.run(x + 1))
            attempt("not a fetch", lambda: session.run(3))
            attempt("bad feed", lambda: session.run(x, {x: "a"}))
            attempt("of another graph", lambda: session.run(tf.Graph().get_operations()))
            attempt("fails", lambda: session.run(tf.linalg.inv(x), {x: [1.0]}))
            attempt("callable", lambda: session.make_callable(x + 1, [x])([1.0]))
            attempt("partial", lambda: session.partial_run(session.partial_run_setup([x], [x]), x, {x: [1.0]}))
        attempt("closed", lambda: session.run(x, {x: [1.0]}))
        attempt("keyword", lambda: tf1.Session(wrong=1))
        saver = tf1.train.Saver([v])
        with tf1.Session() as session:
            session.run(v.initializer)
            show("saved", os.path.basename(saver.save(session, os.path.join(tempfile.mkdtemp(), "model"))))
        tf1.train.create_global_step()
        with tf1.train.MonitoredSession() as session:
            show("monitored", session.run(tf1.train.get_global_step()))
            attempt("in a monitored session", lambda: session.run(tf.linalg.inv(x), {x: [1.0]}))
        show("operations", [operation.name for operation in tf1.get_default_graph().get_operations()])
    if hasattr(tf.keras.backend, "get_session") or hasattr(tf1.keras.backend, "get_session"):
        keras_in_a_graph()


def keras_in_a_graph():
    x, y = data()
    with tf.Graph().as_default():
        tf1.set_random_seed(1)
        model = functional()
        model.compile("sgd", "mse")
        show("fit", model.fit(x, y, epochs=1, shuffle=False, verbose=0).history)
        show("predict", model.predict(x, verbose=0))


def identity():
    """What other libraries ask of modules and loaders."""
    import pkgutil

    for name in ("tensorflow", "keras"):
        module = sys.modules.get(name)
        if module is None:
            continue
        show(name, [type(module.__loader__).__name__, type(module.__spec__.loader).__name__, type(module).__name__])
        attempt("data", lambda: len(pkgutil.get_data(name, "__init__.py") or "") > 0)
        attempt("source", lambda: len(inspect.getsource(module)) > 0)
    attempt("absent", lambda: __import__("tf_keras_that_is_not_there"))
    show("logger", [type(handler).__name__ for handler in logging.getLogger().handlers])
    show("hooks", [sys.excepthook is sys.__excepthook__, sys.gettrace(), sys.getprofile()])


SECTIONS = [
    autograph, saved_model, pickling, signatures, subclasses, models, mixed_precision, distributed, compiled,
    errors, warned, graphs, identity,
]  # fmt: skip


def main():
    for section in SECTIONS:
        if sys.argv[3:] and section.__name__ not in sys.argv[3:]:
            continue
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.write("\n==== %s\n" % section.__name__)
            stream.flush()
        section()
    for stream in (sys.stdout, sys.stderr):
        stream.write("\n==== ending\n")
        stream.flush()
    if ENDING == "exit":
        sys.exit(3)

    @tf.function
    def ends(x):
        raise RuntimeError("uncaught")

    with tf.Graph().as_default():
        tf1.Session()
        KEPT.append(tf1.Session())  # still open when Python ends
    ends(1.0)


main()
