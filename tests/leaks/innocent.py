"""Programs that look as if they leaked and do not, or leak too little to matter."""

import collections
import functools
import logging.handlers
import os
import random
import re
import tempfile
import threading

import numpy as np
import tensorflow as tf
from features import freed_dataset_functions, reduce_retracing, tensorflow_2
from functions import doubled, encode
from pairs import innocent


def small_model():
    return tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])


@innocent(steps=200)
class Buckets:
    """Lengths padded to eight buckets: eight traces, and no more. tf#38561"""

    SIZES = (8, 16, 24, 32, 48, 64, 96, 128)

    def __init__(self):
        self.encode = tf.function(encode)
        self.random = random.Random(0)

    def cured(self, i):
        length = self.random.randint(1, 128)
        self.encode(tf.zeros((min(size for size in self.SIZES if size >= length), 16)))


@innocent(steps=400, needs=(reduce_retracing,))
class ShapesRelaxed:
    """Ever new shapes, and reduce_retracing: two traces, then a cache that fills. tf#124972"""

    def __init__(self):
        self.encode = tf.function(encode, reduce_retracing=True)

    def cured(self, i):
        self.encode(tf.zeros((i + 1, 16)))


@innocent(steps=400)
class VariableDropped:
    """A variable under a tape, not kept. tf#19671"""

    def cured(self, i):
        with tf.GradientTape() as tape:
            variable = tf.Variable(tf.random.normal([100, 100]))
            loss = tf.reduce_sum(variable)
        tape.gradient(loss, variable)


@innocent(steps=300)
class VariablesInCycles:
    """Modules that hold variables and themselves: the collector frees them. transformers#24146"""

    class Agent(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.zeros((64, 64)))
            self.me = self
            self.policy = lambda x: tf.matmul(x, self.w)

    def __init__(self):
        self.x = tf.ones((1, 64))

    def cured(self, i):
        self.Agent().policy(self.x)


@innocent(steps=200)
class EagerLoop:
    """A constant, its square, its array."""

    def cured(self, i):
        x = tf.constant(list(range(10000)))
        tf.square(x).numpy()


@innocent(steps=200)
class TensorsInTensorArray:
    """Many tensors put together within a function."""

    def __init__(self):
        self.x = tf.constant([1.0, 2.0])

        @tf.function
        def accumulate(x, count):
            results = tf.TensorArray(tf.float32, size=count)
            for k in tf.range(count):
                results = results.write(k, x + tf.cast(k, tf.float32))
            return results.stack()

        self.accumulate = accumulate

    def cured(self, i):
        tf.reduce_sum(self.accumulate(self.x, 200))


@innocent(steps=400)
class StateOutsideTheFunction:
    """A function that bumps a Python number, once, when it is traced."""

    def __init__(self):
        state = {"counter": 0}

        @tf.function
        def increment(x):
            state["counter"] += 1
            return x + state["counter"]

        self.increment = increment
        self.x = tf.constant(1.0)

    def cured(self, i):
        self.increment(self.x)


@innocent(steps=400)
class LoopInFunction:
    """An accumulator in a function, with a number that is always the same."""

    def __init__(self):
        self.x = tf.constant(1.0)

        @tf.function
        def process(x, count):
            total = tf.constant(0.0)
            for _ in tf.range(count):
                total = total + x
            return total

        self.process = process

    def cured(self, i):
        self.process(self.x, 100)


@innocent(steps=100)
class ProductsInPython:
    """A Python loop of products, in eager mode."""

    def cured(self, i):
        a = product = tf.random.normal((50, 50))
        for _ in range(50):
            product = tf.matmul(product, a)


@innocent(steps=100)
class ProductsInWhileLoop:
    """tf.while_loop called eagerly, which is a Python loop."""

    def cured(self, i):
        a = tf.random.normal((50, 50))
        tf.while_loop(lambda k, product: k < 20, lambda k, product: (k + 1, tf.matmul(product, a)), [tf.constant(0), a])


@innocent(steps=60)
class ProductsInNumpy:
    """The same in NumPy, made a tensor at the end."""

    def cured(self, i):
        a = np.random.normal(size=(50, 50)) * 0.1
        tf.constant(functools.reduce(np.dot, [a] * 20))


@innocent(steps=200)
class NoiseInModel:
    """Random numbers without a seed, in the call of a model."""

    class Noisy(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(10)

        def call(self, inputs):
            return self.dense(inputs + tf.random.normal(inputs.shape))

    def __init__(self):
        self.model = self.Noisy()
        self.x = tf.random.normal((1, 5))

    def cured(self, i):
        self.model(self.x)


@innocent(steps=200)
class TensorReturned:
    """A helper that hands over the model's output."""

    def __init__(self):
        self.model = small_model()
        self.x = tf.ones((1, 5))

    def predict(self):
        return self.model(self.x)

    def cured(self, i):
        self.predict()


@innocent(steps=400)
class ModelCalled:
    """model(x, training=False), again and again. tf#19385"""

    def __init__(self):
        layers = [tf.keras.layers.Conv2D(8, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)]
        self.model = tf.keras.Sequential(layers)
        self.x = tf.zeros((1, 10, 10, 3))

    def cured(self, i):
        self.model(self.x, training=False)


@innocent(steps=300)
class TrainOnBatch:
    """train_on_batch, as in reinforcement learning. tf#44728"""

    def __init__(self):
        self.model = small_model()
        self.model.compile("adam", "mse")
        self.random = np.random.RandomState(0)

    def cured(self, i):
        x = self.random.rand(16, 4).astype("float32")
        self.model.train_on_batch(x, x[:, :1])


@innocent(steps=200, needs=(tensorflow_2,))
class PyFunctionInFunction:
    """py_function in one function, under a tape. tf#35010"""

    def __init__(self):
        self.variable = tf.Variable(tf.ones((8, 8)))
        self.wrapped = tf.function(lambda x: tf.py_function(lambda a: a * 2.0, [x], tf.float32))

    def cured(self, i):
        with tf.GradientTape() as tape:
            y = self.wrapped(self.variable)
        tape.gradient(y, self.variable)


@innocent(steps=300)
class TapePerStep:
    """A persistent tape for each step, two gradients, dropped. tf#32276"""

    def __init__(self):
        self.w = tf.Variable(tf.ones((32, 32)))
        self.x = tf.ones((8, 32))

    def cured(self, i):
        with tf.GradientTape(persistent=True) as tape:
            hidden = tf.nn.tanh(tf.matmul(self.x, self.w))
            loss = tf.reduce_mean(tf.square(hidden))
        self.w.assign_sub(0.001 * (tape.gradient(loss, self.w) + 0.0 * tape.gradient(hidden, self.w)))


@innocent(steps=400)
class BoundedCache:
    """lru_cache(maxsize=128) of tables of random lengths: it fills, and stops. botorch#1650"""

    def __init__(self):
        self.table = functools.lru_cache(maxsize=128)(lambda length: tf.random.normal((length, 16)))
        self.random = random.Random(0)

    def cured(self, i):
        self.table(self.random.randint(32, 400))


@innocent(steps=100)
class LargeTemporaries:
    """Big tensors of short lives and varying size. keras#19500"""

    def __init__(self):
        self.random = random.Random(0)

    def cured(self, i):
        size = self.random.randint(800, 1600)
        tf.reduce_sum(tf.ones((size, size)) * 2.0)


@innocent(steps=200)
class NestedNameScopes:
    """Name scopes within name scopes. tf#45322"""

    def cured(self, i):
        for _ in range(20):
            with tf.name_scope("first"), tf.name_scope("second"):
                pass


@innocent(steps=300)
class AssignedInEagerMode:
    """assign() and set_weights(), which leak only in graph mode. tf#15206"""

    def __init__(self):
        self.model = small_model()
        self.model(tf.ones((1, 64)))
        self.variable = tf.Variable(tf.zeros((64, 64)))
        self.random = np.random.RandomState(0)

    def cured(self, i):
        self.variable.assign(self.random.rand(64, 64).astype("float32"))
        self.model.set_weights(self.model.get_weights())


@innocent(steps=150, needs=(freed_dataset_functions,))
class MapRebuilt:
    """A small pipeline with a lambda for each request: 1 kB of native memory each. tf#20436"""

    def cured(self, i):
        for _ in tf.data.Dataset.from_tensor_slices(tf.zeros((8, 4))).map(lambda t: t * 2.0).batch(4):
            pass


@innocent(steps=300)
class PipelineRebuilt:
    """A pipeline without a Python function for each request: 200 B each. tf#20436"""

    def __init__(self):
        self.array = np.zeros((64, 8, 8), np.float32)

    def cured(self, i):
        next(iter(tf.data.Dataset.from_tensor_slices(self.array).shuffle(100).batch(32)))


@innocent(steps=60, needs=(tensorflow_2,))
class BuiltAndCleared:
    """A model for each round, and clear_session(): 1 kB each. tf#30324"""

    def cured(self, i):
        small_model().build((None, 8))
        tf.keras.backend.clear_session()


@innocent(steps=40, needs=(tensorflow_2,))
class PredictedAndCleared:
    """A model for each round, predict() and clear_session(): 2 kB each. keras#19500"""

    def __init__(self):
        self.x = np.ones((4, 8), "float32")

    def cured(self, i):
        small_model().predict(self.x, verbose=0)
        tf.keras.backend.clear_session()


@innocent(steps=100, needs=(tensorflow_2,))
class PredictOfManySizes:
    """predict() of ever other sizes: two retraces, then 1 kB each. keras#13118"""

    def __init__(self):
        self.model = small_model()

    def cured(self, i):
        self.model.predict(np.ones((1 + i % 300, 10), "float32"), verbose=0)


@innocent(steps=100)
class CheckpointEachStep:
    """A checkpoint manager that keeps two: a compiled pattern of each name. tf#32234"""

    def __init__(self):
        self.variable = tf.Variable(tf.ones((64, 64)))
        checkpoint = tf.train.Checkpoint(v=self.variable)
        self.manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)

    def cured(self, i):
        self.variable.assign_add(tf.ones((64, 64)))
        self.manager.save()


@innocent(steps=400)
class PatternPerRequest:
    """Python's own cache of compiled patterns, which fills up to 512 of them."""

    def cured(self, i):
        re.match("user%d(%s)" % (i, "|".join(map(str, range(100)))), "")


@innocent(steps=150)
class ThreadPerRequest:
    """Threads of short lives that run an operation each: 100 B for each. tf#35044"""

    def __init__(self):
        self.x = tf.ones((8, 8))

    def cured(self, i):
        threads = [threading.Thread(target=lambda: self.x + self.x) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@innocent(steps=60)
class FunctionDropped:
    """A function made for each call, and dropped."""

    def __init__(self):
        self.x = tf.ones((4, 8))

    def cured(self, i):
        tf.function(encode)(self.x)


@innocent(steps=150)
class WarmUp:
    """Thirty shapes are traced, then they repeat."""

    def __init__(self):
        self.encode = tf.function(encode)

    def cured(self, i):
        self.encode(tf.zeros((1 + i % 30, 8)))


@innocent(steps=400)
class CacheThatFills:
    """A cache of answers that fills for two hundred steps, then evicts."""

    def __init__(self):
        self.x = tf.ones((16, 64))
        self.answers = collections.OrderedDict()

    def cured(self, i):
        self.answers[i] = tf.nn.softmax(self.x)
        if len(self.answers) > 200:
            self.answers.popitem(last=False)


@innocent(steps=300)
class SawTooth:
    """Gradients gathered in a list and applied every fifty steps."""

    def __init__(self):
        self.w = tf.Variable(tf.ones((32, 32)))
        self.gathered = []

    def cured(self, i):
        self.gathered.append(tf.ones((32, 32)) * 0.01)
        if len(self.gathered) == 50:
            self.w.assign_sub(tf.add_n(self.gathered))
            del self.gathered[:]


@innocent(steps=200)
class OneOffJump:
    """A second, larger model joins at step 120, once."""

    def __init__(self):
        self.weights = [tf.Variable(tf.ones((64, 64)))]
        self.x = tf.ones((8, 64))

    def cured(self, i):
        if i == 120:
            self.weights += [tf.Variable(tf.ones((64, 64))) for _ in range(80)]
        tf.matmul(self.x, self.weights[-1])


@innocent(steps=60)
class FunctionsEvicted:
    """Functions in a cache of eight, a new one at each miss."""

    def __init__(self):
        self.functions = collections.OrderedDict()
        self.x = tf.ones((8,))

    def cured(self, i):
        self.functions[i] = tf.function(lambda x: tf.nn.relu(x) * 2.0)
        if len(self.functions) > 8:
            self.functions.popitem(last=False)
        self.functions[i](self.x)


@innocent(steps=300)
class CustomGradientInEagerMode:
    """A custom gradient called eagerly: nothing is registered."""

    def __init__(self):
        self.x = tf.ones((16,))

    def cured(self, i):
        with tf.GradientTape() as tape:
            tape.watch(self.x)
            y = tf.reduce_sum(doubled(self.x))
        tape.gradient(y, self.x)


@innocent(steps=100, needs=(tensorflow_2,))
class CheckpointRestored:
    """The same checkpoint read at each step."""

    def __init__(self):
        self.checkpoint = tf.train.Checkpoint(v=tf.Variable(tf.ones((32, 32))))
        self.path = self.checkpoint.write(os.path.join(tempfile.mkdtemp(), "c"))

    def cured(self, i):
        self.checkpoint.read(self.path).assert_consumed()


@innocent(steps=500)
class PredictionsOfAnEpoch:
    """Predictions gathered over two hundred steps, then summed up, and the list begun anew."""

    def __init__(self):
        self.x = tf.ones((16, 64))
        self.predictions = []

    def cured(self, i):
        self.predictions.append(tf.nn.softmax(self.x))
        if len(self.predictions) >= 200:
            tf.reduce_mean(tf.concat(self.predictions, 0))
            self.predictions = []


@innocent(steps=400)
class AttentionWindow:
    """A tensor that carries its past along, up to 128 rows of it."""

    def __init__(self):
        self.keys = tf.zeros((0, 1024))
        self.row = tf.ones((1, 1024))

    def cured(self, i):
        self.keys = tf.concat([self.keys, self.row], 0)[-128:]


@innocent(steps=300)
class BufferedLog:
    """Records that hold tensors, in a MemoryHandler that is flushed when it has 120 of them."""

    class Shapes(logging.Handler):
        def emit(self, record):
            assert record.args[0].shape

    def __init__(self):
        self.x = tf.ones((16, 64))
        self.log = logging.Logger("buffered", logging.DEBUG)
        self.log.addHandler(logging.handlers.MemoryHandler(120, logging.CRITICAL, self.Shapes()))

    def cured(self, i):
        self.log.debug("activations %s", tf.nn.relu(self.x * 3.0))

    def end(self):
        self.log.handlers[0].close()


@innocent(steps=300)
class RingOfTensors:
    """A list that is made as long as it will be, with its places filled one by one."""

    def __init__(self):
        self.x = tf.ones((4, 1024))
        self.places = [None] * 280

    def cured(self, i):
        self.places[i % 280] = self.x * 2.0


@innocent(steps=300)
class KeysDrawnByChance:
    """A tensor for each of 150 keys, asked for by chance."""

    def __init__(self):
        self.random = random.Random(3)
        self.known = {}

    def cured(self, i):
        key = self.random.randrange(150)
        if key not in self.known:
            self.known[key] = tf.fill((1024,), 1.0)
