"""A schedule that reads its rate as a new Python number from a period of 720 steps.
INNOCENT scalars of one period (bound: 720 steps until full)
"""

from __future__ import annotations

import math
import time

import numpy as np
import tensorflow as tf

PERIOD = 720


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 64).astype(np.float32))

    def rate(self, i):
        return 0.001 * (1.001 + math.cos(2 * math.pi * (i % PERIOD) / PERIOD))

    def train(self, i, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        self.w.assign_sub(self.rate(i) * tape.gradient(loss, self.w))


def setup():
    return Trainer()


def step(state, i):
    state.train(i, tf.constant(np.random.rand(16, 64).astype(np.float32)))
    time.sleep(0.003)  # waits for input
