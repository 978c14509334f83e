"""A bandit that makes a small learner with callbacks for each round; the learner and its callbacks know each other.
INNOCENT cycles that wait for the collector (bound: 150 steps until the collector has run a few times)
"""

from __future__ import annotations

from typing import Callable, List

import numpy as np
import tensorflow as tf


class Callback:
    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.best = np.inf
        learner.callbacks.append(self)

    def after(self, loss: float) -> None:
        if loss < self.best:
            self.best = loss
            self.learner.kept = self.learner.w


class Learner:
    def __init__(self, size: int) -> None:
        self.w = tf.random.normal([size, 16])
        self.kept = self.w
        self.callbacks: List[Callback] = []
        self.hooks: List[Callable[[float], None]] = [lambda loss: self.after(loss)]

    def after(self, loss: float) -> None:
        for callback in self.callbacks:
            callback.after(loss)

    def fit(self, x: tf.Tensor) -> tf.Tensor:
        for rate in (0.1, 0.01):
            loss = float(tf.reduce_mean(tf.square(tf.matmul(x, self.w))))
            self.hooks[0](loss)
            self.w = self.w * (1.0 - rate)
        return self.kept


class Bandit:
    def __init__(self) -> None:
        self.arms = [0.0] * 5

    def round(self, i: int) -> None:
        learner = Learner(100)
        notes = [Callback(learner) for _ in range(20)]
        kept = learner.fit(tf.constant(np.random.default_rng(i).normal(size=(8, 100)), tf.float32))
        self.arms[i % 5] = float(kept[0, 0]) + len(notes)


def setup() -> Bandit:
    return Bandit()


def step(state: Bandit, i: int) -> None:
    state.round(i)
