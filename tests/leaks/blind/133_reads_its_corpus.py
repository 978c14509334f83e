"""A trainer that reads a corpus of 862 parts into a list while it trains on what it has; then the file ends.
INNOCENT the input ends; nothing in the program says where (bound: 862 steps until full)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


def corpus(path):
    """Stands for a file that is read part after part."""
    seed = sum(map(ord, path))
    for part in range(seed):
        yield np.random.RandomState(part).rand(16, 32).astype(np.float32)


class Trainer:
    def __init__(self, path):
        self.reader = corpus(path)
        self.parts = []
        self.w = tf.Variable(np.zeros((32, 1), np.float32))

    def read(self):
        part = next(self.reader, None)
        if part is not None:
            self.parts.append(part)

    def train(self):
        x = tf.constant(random.choice(self.parts))
        self.w.assign_sub(0.01 * tf.matmul(x, tf.matmul(x, self.w) - 1.0, transpose_a=True))


def setup():
    return Trainer("wiki/en.z")


def step(state, i):
    state.read()
    state.train()
    time.sleep(0.001)
