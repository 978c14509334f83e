"""A trainer that appends the loss tensor of each batch to its history.
LEAK live_tensors
TF1
"""

# One step keeps one scalar tensor (some 200–600 bytes), and the per-row losses (1 KB).

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.zeros((32, 1), np.float32))
        self.losses = []

    def batch(self, x, y):
        with tf.GradientTape() as tape:
            rows = tf.square(tf.matmul(x, self.w) - y)  # leak, made here
            loss = tf.reduce_mean(rows)
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
        self.losses.append(rows)  # leak
        return loss

    def mean_of_last(self, n=10):
        return float(tf.add_n([tf.reduce_mean(r) for r in self.losses[-n:]])) / n


def setup():
    return Trainer()


def step(state, i):
    x = tf.constant(np.random.rand(256, 32).astype(np.float32))
    state.batch(x, tf.reduce_sum(x, axis=1, keepdims=True))
    if i % 50 == 49:
        state.mean_of_last()
    time.sleep(0.002)  # until the next one comes
