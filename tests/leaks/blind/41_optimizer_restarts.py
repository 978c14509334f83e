"""A trainer with warm restarts: at each restart a new optimizer, and the old ones stay in a list.
LEAK variable|model_rebuild|python_objects
"""

# A restart every 10 steps keeps an Adam with two slots of 16 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 64).astype(np.float32))
        self.optimizers = []

    def restart(self):
        self.optimizers.append(tf.keras.optimizers.Adam(0.001))  # leak

    def train(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        self.optimizers[-1].apply_gradients([(tape.gradient(loss, self.w), self.w)])  # leak
        return loss


def setup():
    return Trainer()


def step(state, i):
    if i % 10 == 0:
        state.restart()
    state.train(tf.constant(np.random.rand(16, 64).astype(np.float32)))
    time.sleep(0.003)  # waits for input
