"""A trainer whose dataset repeats and is shuffled in a buffer of 3000 rows.
INNOCENT Dataset.shuffle (bound: 1 step until full; it fills before the first batch, and again with each epoch)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        rows = np.random.rand(5000, 128).astype(np.float32)
        dataset = tf.data.Dataset.from_tensor_slices(rows).map(lambda row: row * 2.0)
        self.batches = iter(dataset.repeat().shuffle(3000).batch(16))
        self.w = tf.Variable(tf.zeros([128, 1]))

    def train(self):
        x = next(self.batches)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w) - 1.0))
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))


def setup():
    return Trainer()


def step(state, i):
    state.train()
    time.sleep(0.001)  # the rest of the work
