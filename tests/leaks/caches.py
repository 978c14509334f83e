"""TensorFlow's own caches, which grow although no Python object does; and Python's."""

import functools
import os
import tempfile

import numpy as np
import tensorflow as tf
from features import jit_compile, keras_3, named_kernels, tensorflow_2
from pairs import COUNTED, HOLDERS, OPERATIONS, leak


@leak("cache", needs=(keras_3, named_kernels))
class OptimizerPerStep:
    """An optimizer for each step, dropped: its variables have new names; cured by one. keras#21090"""

    def __init__(self):
        self.w = tf.Variable(tf.ones((16, 16)))
        self.gradient = tf.ones((16, 16))
        self.optimizer = tf.keras.optimizers.Adam(1e-3)

    def leaky(self, i):
        optimizer = tf.keras.optimizers.Adam(1e-3)  # CULPRIT
        optimizer.apply_gradients([(self.gradient, self.w)])

    def cured(self, i):
        self.optimizer.apply_gradients([(self.gradient, self.w)])


@leak("cache", needs=(keras_3, named_kernels))
class SavedEachEpoch:
    """save_weights() makes an optimizer of its own to throw away; cured by a checkpoint. tf#32234"""

    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
        self.model.compile("adam", "mse")
        self.model(tf.ones((1, 8)))
        self.path = os.path.join(tempfile.mkdtemp(), "w.weights.h5")

    def leaky(self, i):
        self.model.save_weights(self.path)  # CULPRIT

    def cured(self, i):
        np.savez(self.path + ".npz", *self.model.get_weights())


@leak("cache", needs=(keras_3, named_kernels))
class LayerInForward:
    """A Dropout layer made where it is used: its seed is a variable; cured by making it once."""

    def __init__(self):
        self.x = tf.ones((4, 8))
        self.dropout = tf.keras.layers.Dropout(0.1)

    def leaky(self, i):
        tf.keras.layers.Dropout(0.1)(self.x, training=True)  # CULPRIT

    def cured(self, i):
        self.dropout(self.x, training=True)


@leak("cache", needs=(keras_3, named_kernels))
class MetricPerEpoch:
    """An AUC for each evaluation; cured by resetting one."""

    def __init__(self):
        self.y, self.p = tf.constant([0.0, 1.0, 1.0, 0.0]), tf.constant([0.1, 0.8, 0.3, 0.4])
        self.metric = tf.keras.metrics.AUC(num_thresholds=20)

    def leaky(self, i):
        metric = tf.keras.metrics.AUC(num_thresholds=20)  # CULPRIT
        metric.update_state(self.y, self.p)

    def cured(self, i):
        self.metric.reset_state()
        self.metric.update_state(self.y, self.p)


@leak("cache", needs=(named_kernels,))
class NewNames:
    """A scratch variable named after the request, dropped; cured by one name for all."""

    def __init__(self):
        self.x = tf.ones((8,))

    def leaky(self, i):
        tf.Variable(self.x, name="request_%d" % i)  # CULPRIT

    def cured(self, i):
        tf.Variable(self.x, name="request")


@leak("cache", needs=(tensorflow_2,))
class SeededRandomNumbers:
    """Random numbers after set_seed(): the seed is an attribute; cured by a generator. tf#37252"""

    def __init__(self):
        tf.random.set_seed(42)
        self.generator = tf.random.Generator.from_seed(42)

    def leaky(self, i):
        tf.random.normal((16,))  # CULPRIT

    def cured(self, i):
        self.generator.normal((16,))

    def end(self):
        tf.random.set_seed(None)  # it holds for the process


@leak("cache")
class QueuePerRequest:
    """A queue for each request, abandoned; cured by one queue. tf#2942"""

    def __init__(self):
        self.queue = self.new_queue()

    def new_queue(self):
        return tf.queue.FIFOQueue(4, [tf.float32], [(2048,)])  # CULPRIT

    def leaky(self, i):
        queue = self.new_queue()
        queue.enqueue(tf.zeros((2048,)))

    def cured(self, i):
        self.queue.enqueue(tf.zeros((2048,)))
        self.queue.dequeue()


@leak("cache", needs=(tensorflow_2,))
class TablePerRequest:
    """A lookup table for each request, which is never freed; cured by one table."""

    WORDS = tuple("word-%d" % number for number in range(500))

    def __init__(self):
        self.question = tf.constant(["word-1", "word-9", "none"])
        self.table = self.new_table()

    def new_table(self):
        words = tf.lookup.KeyValueTensorInitializer(list(self.WORDS), list(range(500)), tf.string, tf.int64)
        return tf.lookup.StaticHashTable(words, -1)  # CULPRIT

    def leaky(self, i):
        self.new_table().lookup(self.question)

    def cured(self, i):
        self.table.lookup(self.question)


@leak("cache", needs=(tensorflow_2,))
class EagerPyFunction:
    """py_function called eagerly: each call has a token of its own; cured by calling it in a function. tf#35010"""

    def __init__(self):
        self.x = tf.ones((16,))
        self.traced = tf.function(self.augment_in_function)

    def flip(self, x):
        return x[::-1]

    def augment_in_function(self, x):
        return tf.py_function(self.flip, [x], tf.float32)

    def leaky(self, i):
        tf.py_function(self.flip, [self.x], tf.float32)  # CULPRIT

    def cured(self, i):
        self.traced(self.x)


@leak("cache", OPERATIONS, needs=(tensorflow_2,))
class AnnealedSlope:
    """A slope that changes, given as an attribute; cured by computing with it. (LeakyRelu's alpha)"""

    def __init__(self):
        self.x = tf.ones((8, 8))

    def leaky(self, i):
        tf.nn.leaky_relu(self.x, alpha=0.3 * 0.999**i)  # CULPRIT

    def cured(self, i):
        tf.maximum(self.x, self.x * np.float32(0.3 * 0.999**i))


@leak("cache", COUNTED, needs=(jit_compile,))
class CompiledForEachShape:
    """XLA compiles for each new shape, with one trace only; cured by padding to one shape. tf#81896"""

    def __init__(self):
        signature = [tf.TensorSpec([None, 8], tf.float32)]
        self.score = tf.function(self.softmax, jit_compile=True, input_signature=signature)

    def softmax(self, x):
        return tf.reduce_sum(tf.nn.softmax(x) * 2.0)

    def leaky(self, i):
        self.score(tf.zeros((i + 1, 8)))  # CULPRIT

    def cured(self, i):
        self.score(tf.pad(tf.zeros((i + 1, 8)), [[0, np.int32(127 - i)], [0, 0]]))


@leak("cache", COUNTED, needs=(jit_compile, keras_3))
class PredictCompiledForEachSize:
    """predict() of a model with jit_compile, on batches of ever new sizes; cured by padding to one size. tf#64170"""

    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4)])
        self.model.compile(loss="mse", jit_compile=True)

    def leaky(self, i):
        self.model.predict(np.ones((i + 1, 8), np.float32), batch_size=512, verbose=0)  # CULPRIT

    def cured(self, i):
        rows = np.ones((i + 1, 8), np.float32)
        self.model.predict(np.pad(rows, [[0, 127 - i], [0, 0]]), batch_size=512, verbose=0)[: len(rows)]


@leak("cache", COUNTED, needs=(jit_compile,))
class CompiledForEachLength:
    """Requests of ever new lengths, to a method with XLA; cured by padding to powers of two. tf#64170"""

    def __init__(self):
        self.weight = tf.Variable(2.0)
        self.embed = tf.function(self.embedding, jit_compile=True, reduce_retracing=True)

    def embedding(self, tokens, mask):
        return tf.reduce_sum(tf.sin(tokens * self.weight) * mask)

    def leaky(self, i):
        self.embed(tf.zeros((i + 1,)), tf.ones(()))  # CULPRIT

    def cured(self, i):
        self.embed(tf.zeros((1 << i.bit_length(),)), tf.ones(()))


@leak("cache", OPERATIONS, needs=(tensorflow_2,))
class MetricOfPythonNumbers:
    """A metric fed with Python numbers: each is cached; cured by feeding the tensor. tf#68196"""

    def __init__(self):
        self.loss = tf.function(lambda x: tf.reduce_mean(tf.square(x)))
        self.mean = tf.keras.metrics.Mean()
        self.generator = tf.random.Generator.from_seed(1)

    def leaky(self, i):
        for _ in range(10):
            loss = self.loss(self.generator.normal((8,)))
            self.mean.update_state(float(loss))  # CULPRIT

    def cured(self, i):
        for _ in range(10):
            self.mean.update_state(self.loss(self.generator.normal((8,))))


@leak("cache", OPERATIONS, needs=(tensorflow_2,))
class PositionAsNumber:
    """The position of a token added as a Python number; cured by a counter in a tensor."""

    def __init__(self):
        self.x = tf.zeros((4,), tf.int32)
        self.position = tf.Variable(0)

    def leaky(self, i):
        for token in range(10):
            self.x + (10 * i + token)  # CULPRIT

    def cured(self, i):
        for _ in range(10):
            self.x + self.position.assign_add(1)


@leak("live_tensors", HOLDERS)
class MasksForEver:
    """lru_cache without a bound, by the number of the request; cured by a bound."""

    def __init__(self):
        self.mask_for_ever = functools.lru_cache(maxsize=None)(self.mask)
        self.mask_for_a_while = functools.lru_cache(maxsize=16)(self.mask)

    def mask(self, request, size):  # CULPRIT
        return tf.linalg.band_part(tf.ones((size, size)), -1, 0)

    def leaky(self, i):
        self.mask_for_ever(i, 32)

    def cured(self, i):
        self.mask_for_a_while(i, 32)
