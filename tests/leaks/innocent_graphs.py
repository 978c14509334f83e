"""Programs in graph mode that look as if they leaked, and do not."""

import concurrent.futures

import numpy as np
import tensorflow.compat.v1 as tf
from features import keras_2, layers
from pairs import innocent


@innocent(steps=150)
class SessionSharedByThreads:
    """One session, ten threads, a graph that is finalized."""

    def __init__(self):
        graph = tf.Graph()
        with graph.as_default():
            self.x = tf.placeholder(tf.float32, shape=(1, 5))
            self.out = tf.matmul(self.x, tf.get_variable("w", (5, 10)))
            self.random = tf.random_normal((1, 5), dtype=tf.float32)
            self.session = tf.Session()
            self.session.run(tf.global_variables_initializer())
        graph.finalize()
        self.pool = concurrent.futures.ThreadPoolExecutor(10)

    def predict(self, number):
        self.session.run(self.out, {self.x: self.session.run(self.random)})

    def cured(self, i):
        list(self.pool.map(self.predict, range(10)))

    def end(self):
        self.pool.shutdown()
        self.session.close()


@innocent(steps=200)
class PyFuncThatKnowsItsGraph:
    """A graph for each call, in a cycle with its Python function: the collector frees it. tf#18292"""

    class Function:
        graph = None

        def __call__(self, value):
            return value

    def cured(self, i):
        graph = tf.Graph()
        with graph.as_default():
            function = self.Function()
            function.graph = graph
            y = tf.py_func(function, [tf.zeros((4,))], tf.float32)
            with tf.Session() as session:
                session.run(y)


@innocent(steps=150, needs=(layers,))
class LayersInFreshGraphs:
    """tf.layers in a graph for each iteration. tf#11273"""

    def cured(self, i):
        with tf.Graph().as_default():
            x = tf.constant(np.ones((100, 100), "float32"))
            tf.layers.dense(x, units=100)


@innocent(steps=60, needs=(keras_2,))
class KerasCleared:
    """A model for each round, and clear_session(). keras#2102"""

    def __init__(self):
        self.x = np.ones((4, 8), "float32")

    def cured(self, i):
        tf.keras.backend.clear_session()
        model = tf.keras.Sequential([tf.keras.layers.Dense(16, input_shape=(8,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.predict(self.x, verbose=0)


@innocent(steps=600)
class SessionsOpenedAndClosed:
    """Session after session around one graph. tf#18540"""

    def __init__(self):
        self.constant = tf.constant(1.0)

    def cured(self, i):
        with tf.Session() as session:
            session.run(self.constant)


@innocent(steps=150)
class SessionsDropped:
    """Sessions never closed but dropped: `__del__` closes them."""

    def __init__(self):
        self.y = tf.reduce_sum(tf.ones((16, 16)))

    def cured(self, i):
        tf.Session().run(self.y)


@innocent(steps=200)
class GraphBuiltLazily:
    """An output for each of twenty tasks, made when first asked for."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, (None, 8))
        self.session = tf.Session()
        self.heads = {}

    def cured(self, i):
        task = i % 20
        if task not in self.heads:
            self.heads[task] = tf.reduce_sum(self.x * float(task))
        self.session.run(self.heads[task], {self.x: [[1.0] * 8]})

    def end(self):
        self.session.close()


@innocent(steps=100)
class DefaultGraphReset:
    """reset_default_graph() before each trial."""

    def cured(self, i):
        tf.reset_default_graph()
        y = tf.reduce_sum(tf.nn.relu(tf.get_variable("w", (8, 8))))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(y)
