"""Graphs of TensorFlow 1 that grow, or are kept; all in graph mode."""

import os
import tempfile
import threading

import numpy as np
import tensorflow.compat.v1 as tf
from features import keras_2
from pairs import BOUNDABLE, leak


@leak("variable")
class VariableInLoop:
    """A variable with its operations for each step; cured by one that is loaded. tf#20218"""

    def __init__(self):
        self.session = tf.Session()
        self.value = tf.placeholder(tf.float32, (32, 32))
        self.variable = tf.Variable(tf.zeros((32, 32)))
        self.assign = tf.assign(self.variable, self.value)

    def leaky(self, i):
        variable = tf.Variable(tf.zeros((32, 32)))  # CULPRIT
        self.session.run(variable.initializer)
        self.session.run(variable)

    def cured(self, i):
        self.session.run(self.assign, {self.value: np.zeros((32, 32))})

    def end(self):
        self.session.close()


@leak("graph_growth")
class AssignInLoop:
    """An assignment made for each value; cured by one that is fed. tf#15206"""

    def __init__(self):
        self.variable = tf.get_variable("target", shape=(64, 64))
        self.value = tf.placeholder(tf.float32, (64, 64))
        self.assign = tf.assign(self.variable, self.value)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())
        self.random = np.random.RandomState(0)

    def leaky(self, i):
        new = self.random.rand(64, 64).astype("float32")
        self.session.run(self.variable.assign(new))  # CULPRIT

    def cured(self, i):
        self.session.run(self.assign, {self.value: self.random.rand(64, 64)})

    def end(self):
        self.session.close()


@leak("graph_growth")
class ConstantsInDefaultGraph:
    """`with Session()` closes the session, and the default graph grows; cured by a graph each. tf#31419"""

    def square(self):
        with tf.Session() as session:
            x = tf.constant(list(range(10000)))  # CULPRIT
            session.run(tf.square(x))

    def leaky(self, i):
        self.square()

    def cured(self, i):
        with tf.Graph().as_default():
            self.square()


@leak("graph_growth")
class ClosingTheSessionIsNoCure:
    """Two big constants for each call, and close(); cured by building the graph once."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, (None,))
        self.sum = tf.add(self.x, 2.0)

    def leaky(self, i):
        session = tf.Session()
        a = tf.constant([1.0] * 10000)  # CULPRIT
        session.run(tf.add(a, 2.0))
        session.close()

    def cured(self, i):
        session = tf.Session()
        session.run(self.sum, {self.x: [1.0] * 10000})
        session.close()


@leak("graph_growth")
class ChainOfAdditions:
    """A link added to a chain in each step; cured by feeding the last result back."""

    def __init__(self):
        self.session = tf.Session()
        self.chain = tf.constant([1.0])
        self.last = tf.placeholder(tf.float32, (1,))
        self.next = tf.add(self.last, tf.constant([1.0]))
        self.results = [np.array([1.0])]

    def leaky(self, i):
        self.chain = tf.add(self.chain, tf.constant([1.0]))  # CULPRIT
        self.results.append(self.session.run(self.chain))

    def cured(self, i):
        self.results.append(self.session.run(self.next, {self.last: self.results[-1]}))

    def end(self):
        self.session.close()


@leak("graph_growth")
class RandomOperationPerTask:
    """Threads that share a session, each with a new operation; cured by making it once."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, shape=(1, 5))
            self.out = tf.reduce_sum(self.x)
            self.random = tf.random_normal((1, 5))
            self.session = tf.Session()

    def task(self):
        with self.graph.as_default():
            data = tf.random_normal((1, 5), dtype=tf.float32)  # CULPRIT
        self.predict(data)

    def predict(self, data):
        self.session.run(self.out, {self.x: data.eval(session=self.session)})

    def in_threads(self, target, *arguments):
        threads = [threading.Thread(target=target, args=arguments) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def leaky(self, i):
        self.in_threads(self.task)

    def cured(self, i):
        self.in_threads(self.predict, self.random)

    def end(self):
        self.session.close()


@leak("graph_growth")
class ScheduleInLoop:
    """A learning rate's schedule built in each step; cured by building it once. tf#10408"""

    def __init__(self):
        self.step = tf.placeholder(tf.int64, ())
        self.rate = tf.train.cosine_decay(0.1, self.step, 1000)
        self.session = tf.Session()

    def leaky(self, i):
        rate = tf.train.cosine_decay(0.1, self.step, 1000)  # CULPRIT
        self.session.run(rate, {self.step: i})

    def cured(self, i):
        self.session.run(self.rate, {self.step: i})

    def end(self):
        self.session.close()


@leak("graph_growth")
class SaverPerCheckpoint:
    """A Saver made for each checkpoint; cured by one."""

    def __init__(self):
        tf.get_variable("w", (16, 16))
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())
        self.path = os.path.join(tempfile.mkdtemp(), "m")
        self.saver = tf.train.Saver()

    def leaky(self, i):
        saver = tf.train.Saver()  # CULPRIT
        saver.save(self.session, self.path, write_meta_graph=False)

    def cured(self, i):
        self.saver.save(self.session, self.path, write_meta_graph=False)

    def end(self):
        self.session.close()


@leak("graph_growth")
class GradientsInLoop:
    """tf.gradients() for each attack; cured by asking once."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, (None, 8))
        self.loss = tf.reduce_mean(tf.square(tf.nn.relu(self.x)))
        self.gradient = tf.gradients(self.loss, self.x)[0]
        self.session = tf.Session()

    def leaky(self, i):
        gradient = tf.gradients(self.loss, self.x)[0]  # CULPRIT
        self.session.run(gradient, {self.x: [[1.0] * 8]})

    def cured(self, i):
        self.session.run(self.gradient, {self.x: [[1.0] * 8]})

    def end(self):
        self.session.close()


@leak("graph_growth")
class GetNextInLoop:
    """get_next() in each step, the documented mistake; cured by calling it once."""

    def __init__(self):
        dataset = tf.data.Dataset.range(64).repeat().batch(4)
        self.iterator = tf.data.make_one_shot_iterator(dataset)
        self.next = self.iterator.get_next()
        self.session = tf.Session()

    def leaky(self, i):
        batch = self.iterator.get_next()  # CULPRIT
        self.session.run(batch)

    def cured(self, i):
        self.session.run(self.next)

    def end(self):
        self.session.close()


@leak("graph_growth")
class GraphsKept:
    """A graph for each experiment, kept in a list; cured by keeping the result."""

    def __init__(self):
        self.kept = []

    def run(self, graph):
        with graph.as_default():
            y = tf.reduce_sum(tf.ones((16, 16)))
            with tf.Session() as session:
                return session.run(y)

    def leaky(self, i):
        graph = tf.Graph()  # CULPRIT
        self.run(graph)
        self.kept.append(graph)

    def cured(self, i):
        self.kept.append(self.run(tf.Graph()))


@leak("cache")
class NewFetches:
    """An ever new list of fetches from a graph that cannot grow; cured by fetching all."""

    def __init__(self):
        constant = tf.constant(2.0)
        self.outputs = [constant * float(k) for k in range(8)]
        self.session = tf.Session()
        tf.get_default_graph().finalize()

    def leaky(self, i):
        subset = [output for k, output in enumerate(self.outputs) if (i + 1) >> k & 1]
        self.session.run(subset)  # CULPRIT

    def cured(self, i):
        values = self.session.run(self.outputs)
        return [value for k, value in enumerate(values) if (i + 1) >> k & 1]

    def end(self):
        self.session.close()


@leak("python_objects", BOUNDABLE)
class ResultsKept:
    """The graph is fine, and the results of each run are kept; cured by a bound."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, (None, 64))
        self.y = tf.nn.softmax(self.x)
        self.session = tf.Session()
        self.batch = np.ones((16, 64), "float32")
        self.results = []

    def leaky(self, i):
        out = self.session.run(self.y, {self.x: self.batch})
        self.results.append(out)  # CULPRIT

    def cured(self, i):
        self.results.append(self.session.run(self.y, {self.x: self.batch}))
        del self.results[:-16]

    def end(self):
        self.session.close()


@leak("model_rebuild", needs=(keras_2,))
class KerasModelsInOneGraph:
    """Models built in Keras' one graph; cured by clear_session(). keras#2102"""

    def __init__(self):
        self.x = np.ones((4, 8), "float32")

    def predict(self):
        layers = [tf.keras.layers.Dense(16, input_shape=(8,)), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)  # CULPRIT
        model.compile("sgd", "mse")
        model.predict(self.x, verbose=0)

    def leaky(self, i):
        self.predict()

    def cured(self, i):
        tf.keras.backend.clear_session()
        self.predict()

    def end(self):
        tf.keras.backend.clear_session()


@leak("graph_growth")
class ImportedAgain:
    """A frozen graph imported for each request; cured by importing it once."""

    def __init__(self):
        frozen = tf.Graph()
        with frozen.as_default():
            x = tf.placeholder(tf.float32, (None, 8), name="x")
            tf.nn.softmax(tf.matmul(x, tf.ones((8, 8))), name="y")
        self.frozen = frozen.as_graph_def()
        self.x, self.y = self.imported()
        self.session = tf.Session()

    def imported(self):
        return tf.import_graph_def(self.frozen, return_elements=["x:0", "y:0"])

    def leaky(self, i):
        x, y = tf.import_graph_def(self.frozen, return_elements=["x:0", "y:0"])  # CULPRIT
        self.session.run(y, {x: [[1.0] * 8]})

    def cured(self, i):
        self.session.run(self.y, {self.x: [[1.0] * 8]})

    def end(self):
        self.session.close()
