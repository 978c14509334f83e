"""A trainer that accumulates the gradients of 60 batches in a list, applies their sum and clears the list.
INNOCENT the cured twin of 46_gradients_not_cleared.py (bound: 60 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Trainer:
    def __init__(self, every):
        self.w = tf.Variable(np.random.rand(64, 32).astype(np.float32))
        self.every = every
        self.pending = []

    def accumulate(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        self.pending.append(tape.gradient(loss, self.w))
        if len(self.pending) == self.every:
            self.apply()

    def apply(self):
        self.w.assign_sub(0.01 * tf.add_n(self.pending) / self.every)
        self.pending.clear()


def setup():
    return Trainer(every=60)


def step(state, i):
    state.accumulate(tf.constant(np.random.rand(32, 64).astype(np.float32)))
    time.sleep(0.001)  # the rest of the work
