"""A drift monitor that appends all predictions that it has seen to one NumPy array.
LEAK native_heap|python_objects
TF1
"""

# One step makes the array 2 KB longer; it is always one object.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class DriftMonitor:
    def __init__(self):
        self.seen = np.zeros(0, np.float32)

    def observe(self, predictions):
        self.seen = np.concatenate([self.seen, predictions])  # leak

    def drift(self):
        return float(abs(self.seen[-2000:].mean() - 0.5))


class Service:
    def __init__(self):
        self.w = tf.constant(np.random.rand(8, 512).astype(np.float32))
        self.monitor = DriftMonitor()

    def predict(self, x):
        out = tf.sigmoid(tf.matmul(x, self.w))
        self.monitor.observe(out.numpy().ravel())
        return out


def setup():
    return Service()


def step(state, i):
    state.predict(tf.constant(np.random.rand(1, 8).astype(np.float32)))
    if i % 20 == 0:
        state.monitor.drift()
    time.sleep(0.001)  # the rest of the work
