"""A Keras-like loop with train_on_batch, metrics that are reset and a list of losses that ends with each epoch.
INNOCENT the cured twin of 123_float_metric.py; lists reset at each epoch (bound: 250 steps until full)
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

EPOCH = 250


class Loop:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
        self.model.compile(optimizer="sgd", loss="mse")
        self.mean = tf.keras.metrics.Mean()
        self.losses = []
        self.outputs = []
        self.epochs = []

    def batch(self, x, y):
        loss = self.model.train_on_batch(x, y)
        self.mean.update_state(tf.constant(np.float32(loss)))
        self.losses.append(loss)
        self.outputs.append(self.model(x))

    def epoch_end(self):
        self.epochs.append(float(self.mean.result()))
        del self.epochs[:-20]
        (getattr(self.mean, "reset_state", None) or self.mean.reset_states)()
        self.losses, self.outputs = [], []


def setup():
    return Loop()


def step(state, i):
    x = np.random.rand(32, 8).astype(np.float32)
    state.batch(x, x.sum(axis=1, keepdims=True))
    if i % EPOCH == EPOCH - 1:
        state.epoch_end()
