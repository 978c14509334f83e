"""Variables that are made again and again and kept."""

import tensorflow as tf
from pairs import leak


@leak("variable")
class History:
    """A variable for each propagation, kept in a history; cured by one that is assigned. q-optimize/c3#38"""

    def __init__(self):
        self.history = []
        self.dt = tf.Variable(tf.zeros((64, 64)))

    def leaky(self, i):
        dt = tf.Variable(tf.fill((64, 64), 0.001 * (i % 7)))  # CULPRIT
        self.history.append(dt)
        tf.reduce_sum(dt * 2.0)

    def cured(self, i):
        self.dt.assign(tf.fill((64, 64), 0.001 * (i % 7)))
        tf.reduce_sum(self.dt * 2.0)


@leak("variable")
class OverSeveralLines:
    """A construction over several lines, in a method; cured by a ring of variables."""

    def __init__(self):
        self.items = []
        self.x = tf.ones((16, 64))

    def add_prototype(self, value):
        prototype = tf.Variable(  # CULPRIT
            initial_value=value,
            trainable=False,
            name="prototype",
        )
        self.items.append(prototype)

    def leaky(self, i):
        self.add_prototype(
            self.x * 0.5,
        )

    def cured(self, i):
        self.add_prototype(self.x * 0.5)
        del self.items[:-8]


REGISTRY = {}


@leak("variable")
class ModulePerClient:
    """A module with two weights for each client, in a registry of the module; cured by deregistering."""

    class ClientModel(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.ones((32, 16)), name="w")
            self.b = tf.Variable(tf.zeros((16,)), name="b")

        def __call__(self, x):
            return tf.matmul(x, self.w) + self.b

    def __init__(self):
        self.x = tf.ones((2, 32))

    def leaky(self, i):
        REGISTRY[i] = self.ClientModel()  # CULPRIT
        REGISTRY[i](self.x)

    def cured(self, i):
        REGISTRY[i] = self.ClientModel()
        REGISTRY.pop(i)(self.x)

    def end(self):
        REGISTRY.clear()


@leak("variable")
class OptimizerPerClient:
    """An optimizer for each client, kept with its slots; cured by one optimizer."""

    def __init__(self):
        self.w = tf.Variable(tf.ones((32, 32)))
        self.gradient = tf.ones((32, 32)) * 0.1
        self.optimizers = {"all": tf.keras.optimizers.Adam(1e-3)}

    def leaky(self, i):
        self.optimizers[i] = tf.keras.optimizers.Adam(1e-3)  # CULPRIT
        self.optimizers[i].apply_gradients([(self.gradient, self.w)])

    def cured(self, i):
        self.optimizers["all"].apply_gradients([(self.gradient, self.w)])


@leak("variable", steps=220)
class LateAndRarely:
    """A copy at every third step, from the sixtieth on; cured by keeping the last."""

    def __init__(self):
        self.w = tf.Variable(tf.ones((64, 64)))
        self.kept = []

    def train(self, i):
        self.w.assign_add(tf.ones((64, 64)) * 0.01)
        return i > 60 and i % 3 == 0

    def leaky(self, i):
        if self.train(i):
            self.kept.append(tf.Variable(self.w))  # CULPRIT

    def cured(self, i):
        if self.train(i):
            self.kept = [tf.Variable(self.w)]
