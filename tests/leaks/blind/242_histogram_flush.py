"""A trainer that keeps gradients for a histogram, which is written at the end of each of its rounds of 170 steps.
INNOCENT the writer empties the list of its caller (bound: 170 steps until full, then a saw)
"""

from __future__ import annotations

from typing import List

import numpy as np
import tensorflow as tf


class HistogramWriter:
    def __init__(self) -> None:
        self.last = np.zeros(20)

    def write(self, tensors: List[tf.Tensor]) -> None:
        values = tf.concat([tf.reshape(t, [-1]) for t in tensors], axis=0)
        self.last = np.histogram(values.numpy(), 20)[0]
        tensors[:] = []


class Trainer:
    ROUND = 170

    def __init__(self) -> None:
        self.w = tf.Variable(tf.random.normal([48, 64], stddev=0.1))
        self.writer = HistogramWriter()
        self.gradients: List[tf.Tensor] = []
        self.steps = 0

    def fit(self, x: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        gradient = tape.gradient(loss, self.w)
        self.w.assign_sub(0.01 * gradient)
        self.gradients.append(gradient)
        self.steps += 1
        if not self.steps % self.ROUND:
            self.writer.write(self.gradients)


def setup() -> Trainer:
    return Trainer()


def step(state: Trainer, i: int) -> None:
    state.fit(tf.constant(np.random.default_rng(i).normal(size=(16, 48)), tf.float32))
