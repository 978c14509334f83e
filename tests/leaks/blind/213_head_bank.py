"""A continual learner that gives each new task a Dense head of its own and keeps the heads of all tasks.
LEAK variable|model_rebuild|python_objects
"""

# A task every 3 steps keeps a layer with two variables (8 KB).
from __future__ import annotations

from typing import Dict

import keras
import numpy as np
import tensorflow as tf


class HeadBank:
    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.heads: Dict[str, keras.layers.Layer] = {}

    def __getitem__(self, task: str) -> keras.layers.Layer:
        if task not in self.heads:
            head = keras.layers.Dense(self.classes, name="head_" + task)  # leak, made here
            self.heads[task] = head  # leak
        return self.heads[task]


class ContinualLearner:
    def __init__(self) -> None:
        self.trunk = keras.Sequential([keras.layers.Input([20]), keras.layers.Dense(128, activation="tanh")])
        self.bank = HeadBank(16)

    def learn(self, task: str, x: tf.Tensor, y: tf.Tensor) -> float:
        head = self.bank[task]
        with tf.GradientTape() as tape:
            logits = head(self.trunk(x))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        weights = head.trainable_variables
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign(weight - 0.1 * gradient)
        return float(loss)


class Stream:
    def __init__(self, length: int) -> None:
        self.length = length

    def batch(self, i: int):
        random = np.random.default_rng(i)
        x = tf.constant(random.normal(size=(8, 20)), tf.float32)
        return "t%05d" % (i // self.length), x, tf.constant(random.integers(0, 16, size=8))


def setup():
    return ContinualLearner(), Stream(3)


def step(state, i: int) -> None:
    learner, stream = state
    learner.learn(*stream.batch(i))
