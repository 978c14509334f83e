"""A service that reloads its Keras model when the version changes, and keeps the old ones «for a rollback».
LEAK model_rebuild|variable
"""

# A reload every 20 steps; a model of 20 KB of weights and some 200 KB of Python objects.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


def load_model(version: int):
    """Stands for keras.models.load_model."""
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")]
    )
    model.build((None, 64))
    return model


class Service:
    def __init__(self):
        self.versions = {}
        self.current = None

    def refresh(self, version: int):
        self.versions[version] = load_model(version)  # leak
        self.current = self.versions[version]

    def predict(self, x):
        return self.current(x, training=False)


def setup():
    return Service()


def step(state, i):
    if i % 20 == 0:
        state.refresh(version=i // 20)
    state.predict(tf.constant(np.random.rand(4, 64).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
