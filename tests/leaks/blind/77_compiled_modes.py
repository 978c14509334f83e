"""A kernel library that compiles a function for each of 48 settings when it is asked for it first.
INNOCENT settings are a finite product (bound: about 400 steps until full)
"""

from __future__ import annotations

import random
import time

import tensorflow as tf


class Kernels:
    def __init__(self):
        self.compiled = {}

    def get(self, kind, size, causal):
        key = (kind, size, causal)
        if key not in self.compiled:

            @tf.function
            def kernel(x):
                y = tf.nn.relu(x) if kind == "relu" else tf.tanh(x)
                y = tf.linalg.band_part(y, -1, 0) if causal else y
                return tf.reduce_sum(y[:size])

            self.compiled[key] = kernel
        return self.compiled[key]


def setup():
    return Kernels(), tf.ones([16, 16])


def step(state, i):
    kernels, x = state
    for _ in range(2):
        kernels.get(random.choice(["relu", "tanh"]), random.randrange(1, 13), random.random() < 0.5)(x)
    time.sleep(0.003)  # waits for input
