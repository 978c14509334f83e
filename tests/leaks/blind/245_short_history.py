"""A trainer whose history has an entry for each epoch of 12 batches, and is cut to the last 25 by the early stopping.
INNOCENT another object cuts it (bound: 312 steps until full)
"""

from __future__ import annotations

from typing import Any, Dict, List

import numpy as np
import tensorflow as tf


class History:
    def __init__(self) -> None:
        self.epochs: List[Dict[str, Any]] = []


class EarlyStopping:
    def __init__(self, patience: int) -> None:
        self.patience = patience

    def look(self, history: History) -> bool:
        while len(history.epochs) > self.patience:
            history.epochs.pop(0)
        losses = [epoch["loss"] for epoch in history.epochs]
        return len(losses) == self.patience and min(losses) == losses[0]


class Trainer:
    def __init__(self) -> None:
        self.history = History()
        self.stopping = EarlyStopping(25)
        self.w = tf.Variable(tf.random.normal([32, 100]))
        self.losses: List[tf.Tensor] = []
        self.outputs: List[tf.Tensor] = []
        self.would_stop = 0

    def fit(self, x: tf.Tensor) -> None:
        y = tf.matmul(x, self.w)
        self.outputs.append(y)
        self.losses.append(tf.reduce_mean(tf.square(y)))
        if len(self.losses) == 12:
            self.history.epochs.append({"loss": float(tf.add_n(self.losses)), "outputs": tf.concat(self.outputs, 0)})
            self.losses, self.outputs = [], []
            self.would_stop += self.stopping.look(self.history)


def setup() -> Trainer:
    return Trainer()


def step(state: Trainer, i: int) -> None:
    state.fit(tf.constant(np.random.default_rng(i).normal(size=(24, 32)), tf.float32))
