"""An evaluation in a loop that collects labels and logits until its epoch of 130 batches ends, and resets its metrics.
INNOCENT reset_state() by the loop's callback (bound: 130 steps until full, then a saw)
"""

from __future__ import annotations

from typing import List

import keras
import numpy as np
import tensorflow as tf


class F1:
    """Needs all logits for its best threshold."""

    def __init__(self) -> None:
        self.reset_state()

    def reset_state(self) -> None:
        self.labels: List[tf.Tensor] = []
        self.logits: List[tf.Tensor] = []

    def update_state(self, labels: tf.Tensor, logits: tf.Tensor) -> None:
        self.labels.append(labels)
        self.logits.append(logits)

    def result(self) -> float:
        labels, logits = tf.concat(self.labels, 0), tf.concat(self.logits, 0)
        hit = tf.reduce_sum(tf.cast(logits > 0, tf.float32) * labels)
        return float(2 * hit / (tf.reduce_sum(labels) + tf.reduce_sum(tf.cast(logits > 0, tf.float32))))


class EndOfEpoch:
    def __init__(self, metrics) -> None:
        self.metrics = metrics
        self.last: List[float] = []

    def __call__(self) -> None:
        self.last = [float(metric.result()) for metric in self.metrics]
        for metric in self.metrics:
            metric.reset_state()


class Evaluation:
    def __init__(self) -> None:
        self.w = tf.random.normal([16, 40])
        self.mean = keras.metrics.Mean()
        self.f1 = F1()
        self.end = EndOfEpoch([self.mean, self.f1])

    def batch(self, i: int, x: np.ndarray) -> None:
        logits = tf.matmul(tf.constant(x), self.w)
        self.mean.update_state(logits)
        self.f1.update_state(tf.cast(logits > 0.5, tf.float32), logits)
        if i % 130 == 129:
            self.end()


def setup() -> Evaluation:
    return Evaluation()


def step(state: Evaluation, i: int) -> None:
    state.batch(i, np.random.default_rng(i).normal(size=(64, 16)).astype(np.float32))
