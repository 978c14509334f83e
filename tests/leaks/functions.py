"""Functions of TensorFlow that are traced again and again, or kept with their traces."""

import concurrent.futures
import functools

import tensorflow as tf
from features import gradients_are_kept
from pairs import KEPT, leak


def encode(tokens):
    hidden = tf.nn.relu(tokens)
    return tf.nn.softmax(hidden + tf.reduce_mean(hidden, axis=0, keepdims=True))


@leak("retrace")
class NewShapes:
    """Every length is new to the function; cured by a signature that leaves the length open. tf#124972"""

    def __init__(self):
        self.encode = tf.function(encode)
        self.encode_any = tf.function(encode, input_signature=[tf.TensorSpec([None, 16], tf.float32)])

    def leaky(self, i):
        self.encode(tf.zeros((i + 1, 16)))  # CULPRIT

    def cured(self, i):
        self.encode_any(tf.zeros((i + 1, 16)))


@leak("retrace")
class NewCallables:
    """A partial made for each call is a new key; cured by one partial for all. tf#31175"""

    def __init__(self):
        self.run_epoch = tf.function(lambda x, loss: loss(x))
        self.x = tf.ones((4, 4))
        self.loss = functools.partial(self.scaled, 2.0)

    @staticmethod
    def scaled(scale, x):
        return tf.reduce_mean(x) * scale

    def leaky(self, i):
        self.run_epoch(self.x, functools.partial(self.scaled, 2.0))  # CULPRIT

    def cured(self, i):
        self.run_epoch(self.x, self.loss)


@leak("retrace")
class PythonNumbers:
    """A decayed rate passed as a Python number; cured by a tensor. tf#38561"""

    def __init__(self):
        weights = self.weights = tf.Variable(tf.ones((8, 8)))

        @tf.function
        def train(x, rate):
            weights.assign_sub(rate * tf.matmul(x, x, transpose_a=True))
            return tf.reduce_sum(weights)

        self.train = train
        self.x = tf.ones((4, 8))

    def leaky(self, i):
        rate = 0.1 / (1.0 + 0.01 * i)
        self.train(self.x, rate)  # CULPRIT

    def cured(self, i):
        self.train(self.x, tf.constant(0.1 / (1.0 + 0.01 * i)))


@leak("retrace")
class RequestNumberAmongOptions:
    """Options in a dict, one of them the number of the request; cured by leaving that out."""

    def __init__(self):
        self.score = tf.function(lambda x, options: tf.nn.softmax(x / options["temperature"]))
        self.x = tf.ones((4, 8))

    def leaky(self, i):
        options = {"temperature": 2.0, "request": i}
        self.score(self.x, options)  # CULPRIT

    def cured(self, i):
        self.score(self.x, {"temperature": 2.0})


@leak("retrace")
class NewConfigObjects:
    """A config object made for each call and dropped: its trace is kept; cured by one object for all."""

    class Config:
        scale = 2.0

    def __init__(self):
        self.run = tf.function(lambda x, config: tf.nn.relu(x) * config.scale)
        self.x = tf.ones((4, 8))
        self.config = self.Config()

    def leaky(self, i):
        self.run(self.x, self.Config())  # CULPRIT

    def cured(self, i):
        self.run(self.x, self.config)


@leak("retrace")
class ConcreteFunctionPerShape:
    """A concrete function for each shape, in a table; cured by one whose shape is open."""

    def __init__(self):
        self.encode = tf.function(encode)
        self.by_shape = {}

    def leaky(self, i):
        shape = (i + 1, 4)
        self.by_shape[shape] = self.encode.get_concrete_function(tf.TensorSpec(shape, tf.float32))  # CULPRIT

    def cured(self, i):
        shape = (None, 4)
        if shape not in self.by_shape:
            self.by_shape[shape] = self.encode.get_concrete_function(tf.TensorSpec(shape, tf.float32))


@leak("retrace")
class NewShapesInWorkerThread:
    """Lengths that never repeat, served by a thread of its own; cured by an open signature."""

    def __init__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.encode = tf.function(encode)
        self.encode_any = tf.function(encode, input_signature=[tf.TensorSpec([None, 4], tf.float32)])

    def serve(self, length):
        return self.encode(tf.ones((length, 4))).numpy().sum()  # CULPRIT

    def serve_any(self, length):
        return self.encode_any(tf.ones((length, 4))).numpy().sum()

    def leaky(self, i):
        self.pool.submit(self.serve, i + 1).result()

    def cured(self, i):
        self.pool.submit(self.serve_any, i + 1).result()

    def end(self):
        self.pool.shutdown()


@tf.custom_gradient
def doubled(x):
    return x * 2.0, lambda upstream: upstream * 0.1


@leak("graph_growth", needs=(gradients_are_kept,))
class CustomGradients:
    """A custom gradient in a function made anew stays registered; cured by one function. tf#97697"""

    def __init__(self):
        self.x = tf.ones((4,))
        self.compute_once = tf.function(self.gradient)

    @staticmethod
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = doubled(x)  # CULPRIT
        return tape.gradient(y, x)

    def leaky(self, i):
        tf.function(self.gradient)(self.x)

    def cured(self, i):
        self.compute_once(self.x)


@leak("function_library", KEPT)
class TrialsKept:
    """Trials kept in a list, each with a function of its own; cured by keeping the score. tf#62854"""

    class Trial(tf.Module):
        def __init__(self, units):
            super().__init__()
            self.w = tf.Variable(tf.ones((16, units)))

        @tf.function
        def train(self, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
            self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
            return loss

    def __init__(self):
        self.results = []
        self.x = tf.ones((4, 16))

    def leaky(self, i):
        trial = self.Trial(4 + i % 8)
        score = float(trial.train(self.x))
        self.results.append((score, trial))  # CULPRIT

    def cured(self, i):
        trial = self.Trial(4 + i % 8)
        score = float(trial.train(self.x))
        self.results.append((score, trial.w.numpy()))


@leak("function_library", KEPT)
class FunctionPerUser:
    """A function compiled for each user and kept in a dict; cured by one for all users."""

    def __init__(self):
        self.functions = {}
        self.x = tf.ones((4, 8))

    def scorer_for(self, user):
        if user not in self.functions:
            self.functions[user] = tf.function(lambda x: tf.reduce_sum(x * 2.0))  # CULPRIT
        return self.functions[user]

    def leaky(self, i):
        self.scorer_for("user-%d" % i)(self.x)

    def cured(self, i):
        self.scorer_for("every user")(self.x)


@leak("function_library", KEPT)
class WrappedLegacyCode:
    """wrap_function around old code for each request, kept; cured by wrapping it once."""

    def __init__(self):
        self.wrapped = []
        self.x = tf.ones((4,))

    def wrap(self):
        spec = tf.TensorSpec([4], tf.float32)
        return tf.compat.v1.wrap_function(lambda x: tf.nn.relu(x) * 3.0, [spec])

    def leaky(self, i):
        function = self.wrap()
        function(self.x)
        self.wrapped.append(function)  # CULPRIT

    def cured(self, i):
        if not self.wrapped:
            self.wrapped.append(self.wrap())
        self.wrapped[0](self.x)
