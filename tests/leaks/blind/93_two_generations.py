"""A cache of two generations: when the young one has 300 entries it becomes the old one, whose entries are dropped.
INNOCENT two dicts change places (bound: 600 steps until full, then a saw)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Generations:
    def __init__(self, size):
        self.size = size
        self.young = {}
        self.old = {}

    def get(self, key, make):
        if key in self.young:
            return self.young[key]
        value = self.old[key] if key in self.old else make(key)
        self.young[key] = value
        if len(self.young) > self.size:
            self.old, self.young = self.young, {}
        return value


class Renderer:
    def __init__(self):
        self.cache = Generations(300)

    def tile(self, number):
        x, y = np.divmod(number, 64)
        return tf.sin(tf.constant(np.linspace(x, x + 1.0, 256))) * tf.cos(tf.constant(np.linspace(y, y + 1.0, 256)))

    def draw(self, numbers):
        return float(tf.add_n([tf.reduce_sum(self.cache.get(n, self.tile)) for n in numbers]))


def setup():
    return Renderer()


def step(state, i):
    state.draw([i, i - 1, i - 5])
    time.sleep(0.001)  # the rest of the work
