"""A fine-tuning loop whose cosine schedule is plain Python, so that the compiled update sees a new float each time.
LEAK retrace
"""

# One step keeps one trace of the update.
from __future__ import annotations

import math

import numpy as np
import tensorflow as tf


class CosineSchedule:
    """Learning rate with warm restarts, as a Python float."""

    def __init__(self, peak: float, period: int) -> None:
        self.peak = peak
        self.period = period

    def __call__(self, step: int) -> float:
        return 0.5 * self.peak * (1.0 + math.cos(math.pi * (step % self.period) / self.period))


class FineTuner:
    def __init__(self, schedule: CosineSchedule) -> None:
        self.schedule = schedule
        self.w = tf.Variable(tf.zeros([32, 4]))
        self.seen = 0

    @tf.function(autograph=False)
    def _apply(self, gradient, lr):  # leak, made here
        self.w.assign_sub(lr * gradient)

    def fit_batch(self, x, y) -> float:
        error = tf.matmul(x, self.w) - y
        lr = self.schedule(self.seen)
        self.seen += 1
        self._apply(tf.matmul(x, error, transpose_a=True) / 16.0, lr)  # leak
        return float(tf.reduce_mean(tf.square(error)))


class State:
    def __init__(self) -> None:
        self.random = np.random.default_rng(1)
        self.tuner = FineTuner(CosineSchedule(0.05, 20000))
        self.best = 1e9


def setup() -> State:
    return State()


def step(state: State, i: int) -> None:
    x = tf.constant(state.random.normal(size=(16, 32)), tf.float32)
    y = tf.constant(state.random.normal(size=(16, 4)), tf.float32)
    state.best = min(state.best, state.tuner.fit_batch(x, y))
