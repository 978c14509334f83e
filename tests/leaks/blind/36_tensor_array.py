"""A simulation that writes its states into one TensorArray for ever.
LEAK live_tensors|python_objects
"""

# One step keeps a tensor of 1.2 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Simulation:
    def __init__(self):
        self.position = tf.constant(np.random.rand(100, 3).astype(np.float32))
        self.velocity = tf.constant(np.random.rand(100, 3).astype(np.float32) - 0.5)
        self.trace = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)

    def advance(self, i):
        self.velocity = self.velocity - 0.01 * self.position
        self.position = self.position + 0.01 * self.velocity  # leak, made here
        self.trace = self.trace.write(i, self.position)  # leak

    def energy(self):
        return float(tf.reduce_sum(self.velocity**2 + self.position**2))


def setup():
    return Simulation()


def step(state, i):
    state.advance(i)
    state.energy()
    time.sleep(0.001)  # the rest of the work
