"""Python's own objects, kept by the program."""

import numpy as np
import tensorflow as tf
from features import tensorflow_2
from pairs import BOUNDABLE, HOLDERS, UNNAMED, leak

RESPONSES = {}


@leak("python_objects", BOUNDABLE)
class Responses:
    """A cache of arrays by the number of the request; cured by throwing the oldest out."""

    def __init__(self):
        self.x = tf.ones((4, 256))

    def leaky(self, i):
        RESPONSES[i] = tf.nn.softmax(self.x).numpy().copy()  # CULPRIT

    def cured(self, i):
        RESPONSES[i] = tf.nn.softmax(self.x).numpy().copy()
        RESPONSES.pop(i - 32, None)

    def end(self):
        RESPONSES.clear()


@leak("python_objects", HOLDERS)
class Activations:
    """Activations recorded as arrays, for a plot at the end; cured by a running mean."""

    def __init__(self):
        self.x, self.w = tf.ones((16, 32)), tf.ones((32, 64))
        self.recorded = []
        self.mean = np.zeros((16, 64), "float32")

    def leaky(self, i):
        hidden = tf.nn.relu(tf.matmul(self.x, self.w))
        self.recorded.append(hidden.numpy().copy())  # CULPRIT

    def cured(self, i):
        hidden = tf.nn.relu(tf.matmul(self.x, self.w))
        self.mean += (hidden.numpy() - self.mean) / (i + 1)


@leak("python_objects", BOUNDABLE)
class AuditTrail:
    """Dicts of strings and lists for each request; cured by keeping the last few."""

    def __init__(self):
        self.x = tf.ones((4,))
        self.audit = []

    def entry(self, i):
        return {
            "id": "request-%d" % i,
            "scores": [float(score) + i for score in tf.nn.softmax(self.x).numpy()],
            "tags": {"tag-%d-%d" % (i, k): "value-%d-%d" % (i, k) for k in range(12)},
        }

    def leaky(self, i):
        self.audit.append(self.entry(i))  # CULPRIT

    def cured(self, i):
        self.audit.append(self.entry(i))
        del self.audit[:-16]


@leak("python_objects", HOLDERS)
class Vocabulary:
    """Numbers for words that never repeat; cured by hashing them into buckets."""

    def __init__(self):
        self.table = tf.ones((100, 8))
        self.vocabulary = {}

    def words(self, i):
        return ["token-%d-%d" % (i, k) for k in range(40)]

    def leaky(self, i):
        for word in self.words(i):
            self.vocabulary[word] = len(self.vocabulary)  # CULPRIT
        tf.gather(self.table, [0, 1])

    def cured(self, i):
        tf.gather(self.table, np.array([hash(word) % 100 for word in self.words(i)]))


@leak("python_objects", BOUNDABLE, needs=(tensorflow_2,))
class WeightsOfEachEpoch(tf.keras.callbacks.Callback):
    """A callback that keeps the weights of each epoch, beside all that fit() leaves by itself; cured by the best."""

    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(384), tf.keras.layers.Dense(1)])
        self.net.compile("sgd", "mse")
        self.x, self.y = np.ones((4, 384), "float32"), np.ones((4, 1), "float32")
        self.weights = []
        self.best = None
        self.keeps = False

    def on_epoch_end(self, epoch, logs=None):
        self.best = [np.array(one) for one in self.net.get_weights()]
        if self.keeps:
            self.weights.append(self.best)  # CULPRIT

    def leaky(self, i):
        self.keeps = True
        self.net.fit(self.x, self.y, epochs=1, verbose=0, callbacks=[self])

    def cured(self, i):
        self.net.fit(self.x, self.y, epochs=1, verbose=0, callbacks=[self])


@leak("python_objects", UNNAMED)
class ArrayThatGrows:
    """Rows are concatenated to what was there; cured by a window of them."""

    def __init__(self):
        self.x = tf.ones((4, 1024))
        self.rows = np.zeros((0, 1024), "float32")

    def leaky(self, i):
        self.rows = np.concatenate([self.rows, (self.x * 2.0).numpy()])  # CULPRIT

    def cured(self, i):
        self.rows = np.concatenate([self.rows, (self.x * 2.0).numpy()])[-200:]


class Job:
    """Remembers the one before it."""

    def __init__(self, result, before):
        self.result, self.before = result, before


@leak("live_tensors", HOLDERS)
class ChainOfJobs:
    """Each job holds the one before it; cured by letting go of it."""

    def __init__(self):
        self.x = tf.ones((4, 1024))
        self.latest = None

    def leaky(self, i):
        self.latest = Job(self.x * 2.0, self.latest)  # CULPRIT

    def cured(self, i):
        self.latest = Job(self.x * 2.0, None)
