"""A drift monitor that keeps 1500 samples drawn evenly from all it has seen.
INNOCENT reservoir sampling (bound: 750 steps until full)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Reservoir:
    def __init__(self, size):
        self.size = size
        self.samples = []
        self.seen = 0

    def add(self, sample):
        self.seen += 1
        if len(self.samples) < self.size:
            self.samples.append(sample)
            return
        at = random.randrange(self.seen)
        if at < self.size:
            self.samples[at] = sample


class Service:
    def __init__(self):
        self.w = tf.constant(np.random.rand(32, 128).astype(np.float32))
        self.reservoir = Reservoir(1500)

    def predict(self, x):
        out = tf.sigmoid(tf.matmul(x, self.w))
        for row in out.numpy():
            self.reservoir.add(row.copy())


def setup():
    return Service()


def step(state, i):
    state.predict(tf.constant(np.random.rand(2, 32).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
