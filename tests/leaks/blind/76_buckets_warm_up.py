"""A translation server that warms up 100 lengths, one every third request, and then pads to them.
INNOCENT a warm-up of shapes that ends (bound: 300 steps until full)
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf


class Server:
    def __init__(self, lengths):
        self.lengths = lengths
        self.warm = 0
        self.table = tf.Variable(np.random.rand(100, 16).astype(np.float32))

    @tf.function
    def encode(self, tokens):
        return tf.reduce_mean(tf.gather(self.table, tokens), axis=0)

    def warm_up(self):
        self.warm += 1
        self.encode(np.zeros(self.warm, np.int32))

    def handle(self, tokens):
        padded = np.zeros(min(self.warm, len(tokens)), np.int32)
        padded[:] = tokens[: len(padded)]
        return self.encode(padded)


def setup():
    return Server(lengths=100)


def step(state, i):
    if i % 3 == 0 and state.warm < state.lengths:
        state.warm_up()
    tokens = [random.randrange(100) for _ in range(random.randint(1, 100))]
    state.handle(tokens)
    time.sleep(0.002)  # until the next one comes
