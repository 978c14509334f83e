"""A trainer with gradient accumulation that applies every eighth step, and forgets to clear the list.
LEAK live_tensors
TF1
"""

# One step keeps a gradient of 8 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Trainer:
    def __init__(self, every=8):
        self.w = tf.Variable(np.random.rand(64, 32).astype(np.float32))
        self.every = every
        self.pending = []

    def accumulate(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        self.pending.append(tape.gradient(loss, self.w))  # leak
        if len(self.pending) % self.every == 0:
            self.apply()

    def apply(self):
        self.w.assign_sub(0.01 * tf.add_n(self.pending[-self.every :]) / self.every)


def setup():
    return Trainer()


def step(state, i):
    state.accumulate(tf.constant(np.random.rand(32, 64).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
