"""A trainer with moving averages of its weights, and of each metric over 300 batches.
INNOCENT averages have one size, and each window a maxlen (bound: 300 steps until full)
TF1
"""

from __future__ import annotations

import time
from collections import defaultdict, deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 8).astype(np.float32))
        self.average = tf.Variable(self.w.numpy())
        self.windows = defaultdict(lambda: deque(maxlen=300))

    def observe(self, name, value):
        self.windows[name].append(value)
        return sum(float(v) for v in list(self.windows[name])[-5:]) / 5

    def train(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        gradient = tape.gradient(loss, self.w)
        self.w.assign_sub(0.001 * gradient)
        self.average.assign(0.99 * self.average + 0.01 * self.w)
        self.observe("loss", loss)
        self.observe("norm", tf.norm(gradient))


def setup():
    return Trainer()


def step(state, i):
    state.train(tf.constant(np.random.rand(32, 64).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
