"""A trainer that hands a fresh configuration object to its compiled step for every four batches.
LEAK retrace
"""

# A configuration every 4 steps keeps one trace (some 390 KB).

from __future__ import annotations

import numpy as np
import tensorflow as tf


class StepConfig:
    """What one training step needs to know."""

    def __init__(self, rate: float, clip: float) -> None:
        self.rate = rate
        self.clip = clip


class Trainer:
    def __init__(self, x, y):
        self.weights = tf.Variable(np.zeros((16, 1), np.float32))
        self.x = x
        self.y = y

    @tf.function
    def train_step(self, x, y, config):
        error = tf.matmul(x, self.weights) - y
        gradient = tf.clip_by_norm(tf.matmul(x, error, transpose_a=True), config.clip)
        self.weights.assign_sub(config.rate * gradient)
        return tf.reduce_mean(error * error)

    def train(self, i):
        if i % 4 == 0:
            self.config = StepConfig(rate=0.01, clip=1.0)
        return self.train_step(self.x, self.y, self.config)  # leak


def setup():
    x = np.random.normal(size=(8, 16)).astype(np.float32)
    return Trainer(tf.constant(x), tf.constant(x.sum(axis=1, keepdims=True)))


def step(state, i):
    state.train(i)
