"""A Monte Carlo estimate that seeds each draw with the number of its step.
LEAK cache
"""

# One step keeps a kernel for the new seed in TensorFlow's own cache (some KB), and no Python object.

from __future__ import annotations

import time

import tensorflow as tf


class Estimate:
    def __init__(self):
        self.inside = 0
        self.draws = 0

    def draw(self, seed):
        points = tf.random.uniform([200, 2], seed=seed)  # leak
        self.inside += int(tf.reduce_sum(tf.cast(tf.norm(points, axis=1) < 1.0, tf.int32)))
        self.draws += 200


def setup():
    return Estimate()


def step(state, i):
    state.draw(seed=1000 + i)
    time.sleep(0.002)  # until the next one comes
