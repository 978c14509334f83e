"""Models that are built, loaded or compiled in a loop."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from features import dataset_functions_stay, gradients_are_kept, keras_3, named_kernels, tensorflow_2
from pairs import leak


def small_model():
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(16, activation="relu"))
    model.add(tf.keras.layers.Dense(1))
    return model


@leak("retrace", needs=(gradients_are_kept,))
class CompiledEachEpisode:
    """compile() before each fit(); cured by compiling once. keras#9151"""

    def __init__(self):
        self.model = small_model()
        self.x, self.y = np.ones((4, 8), "float32"), np.ones((4, 1), "float32")

    def leaky(self, i):
        self.model.compile("adam", "mse")  # CULPRIT
        self.model.fit(self.x, self.y, epochs=1, verbose=0)

    def cured(self, i):
        if i == 0:
            self.model.compile("adam", "mse")
        self.model.fit(self.x, self.y, epochs=1, verbose=0)


@leak("model_rebuild", needs=(named_kernels,))
class BuiltForEachCall:
    """A model built in the loop, never cleared; cured by building it once. keras#2102"""

    def __init__(self):
        self.x = tf.ones((4, 8))
        self.model = self.build()

    def build(self):
        return tf.keras.Sequential([tf.keras.layers.Dense(16), tf.keras.layers.Dense(1)])  # CULPRIT

    def leaky(self, i):
        self.build()(self.x)

    def cured(self, i):
        self.model(self.x)


@leak("model_rebuild", needs=(named_kernels,))
class FunctionalForEachTrial:
    """A functional model for each trial, all with new names; cured by names that repeat."""

    def __init__(self):
        self.x = tf.ones((2, 8))

    def build(self, units, names=(None, None)):
        inputs = tf.keras.Input((8,))
        hidden = tf.keras.layers.Dense(units, activation="relu", name=names[0])(inputs)
        outputs = tf.keras.layers.Dense(1, name=names[1])(hidden)
        return tf.keras.Model(inputs, outputs)  # CULPRIT

    def leaky(self, i):
        self.build(4 + i % 4)(self.x)

    def cured(self, i):
        self.build(4 + i % 4, names=("hidden", "outputs"))(self.x)


@leak("model_rebuild")
class SubclassedKept:
    """A subclassed model for each fold, kept for later; cured by keeping the weights."""

    class Net(tf.keras.Model):
        def __init__(self, units):
            super().__init__()
            self.a = tf.keras.layers.Dense(units, activation="relu")
            self.b = tf.keras.layers.Dense(1)

        def call(self, x):
            return self.b(self.a(x))

    def __init__(self):
        self.models = []
        self.x = tf.ones((2, 8))

    def leaky(self, i):
        self.models.append(self.Net(16))  # CULPRIT
        self.models[-1](self.x)

    def cured(self, i):
        if not self.models:
            self.models.append(self.Net(16))
        self.models[-1](self.x)


@leak("model_rebuild", needs=(keras_3, named_kernels))
class LoadedForEachRequest:
    """load_model() of a compiled model for each request; cured by compile=False. tf#35524"""

    def __init__(self):
        model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model(tf.ones((1, 8)))
        self.path = os.path.join(tempfile.mkdtemp(), "m.keras")
        model.save(self.path)

    def leaky(self, i):
        tf.keras.models.load_model(self.path)  # CULPRIT

    def cured(self, i):
        tf.keras.models.load_model(self.path, compile=False)


@leak("model_rebuild", needs=(tensorflow_2,))
class SavedModelPerTenant:
    """A SavedModel loaded for each tenant and never evicted; cured by one for all tenants."""

    class Exported(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.ones((8, 8)), name="w")

        @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32)])
        def __call__(self, x):
            return tf.matmul(x, self.w)

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        tf.saved_model.save(self.Exported(), self.folder)
        self.models = {}
        self.x = tf.ones((1, 8))

    def model_for(self, tenant):
        if tenant not in self.models:
            self.models[tenant] = tf.saved_model.load(self.folder)  # CULPRIT
        return self.models[tenant]

    def leaky(self, i):
        self.model_for("tenant-%d" % i)(self.x)

    def cured(self, i):
        self.model_for("every tenant")(self.x)


@leak("native_heap", steps=900, needs=(dataset_functions_stay,))
class PredictInLoop:
    """Each predict() leaves 200 kB: it makes a dataset of its own; cured by a call of the model. tf#44711"""

    def __init__(self):
        self.x = np.ones((4, 8), "float32")
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(8,))])

    def leaky(self, i):
        self.model.predict(self.x, verbose=0)  # CULPRIT

    def cured(self, i):
        self.model(self.x, training=False)
