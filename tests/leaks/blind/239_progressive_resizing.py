"""A trainer with progressive resizing: images get larger by 4 every 6 steps up to 128, and each size has its trace.
INNOCENT a curriculum that ends (bound: 150 steps until full)
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf


class Resizing:
    def __init__(self, low: int, high: int, by: int, each: int) -> None:
        self.low, self.high, self.by, self.each = low, high, by, each

    def __call__(self, step: int) -> int:
        return min(self.high, self.low + step // self.each * self.by)


class Trainer:
    def __init__(self) -> None:
        self.size = Resizing(28, 128, 4, 6)
        self.kernel = tf.Variable(tf.random.normal([3, 3, 1, 2], stddev=0.1))
        self.images = tf.constant(np.random.default_rng(0).random((2, 128, 128, 1)), tf.float32)
        self.steps = 0

    @tf.function
    def _train(self, images):
        features = tf.nn.conv2d(images, self.kernel, 2, "SAME")
        self.kernel.assign(self.kernel * 0.999)
        return tf.reduce_mean(features)

    def fit(self) -> float:
        size = self.size(self.steps)
        self.steps += 1
        return float(self._train(tf.image.resize(self.images, [size, size])))


def setup() -> Trainer:
    return Trainer()


def step(state: Trainer, i: int) -> None:
    state.fit()
