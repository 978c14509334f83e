"""A trainer with two leaks at once: its rate is a new Python number each time, and its gradients' norms are kept.
LEAK retrace
LEAK live_tensors
"""

# One step keeps one trace (some 150 KB), and a tensor of 4 KB.

from __future__ import annotations

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(32, 1024).astype(np.float32))
        self.norms = []
        self.rate = 0.1

    @tf.function
    def update(self, x, rate):
        y = tf.matmul(x, self.w)
        self.w.assign_sub(rate * tf.matmul(x, y, transpose_a=True))
        return tf.norm(y, axis=0)

    def batch(self, x):
        self.rate *= 0.999
        norms = self.update(x, self.rate)  # leak retrace
        self.norms.append(norms)  # leak live_tensors


def setup():
    return Trainer()


def step(state, i):
    state.batch(tf.constant(np.random.rand(4, 32).astype(np.float32) / 100))
