"""A trainer that saves every 25 steps and keeps three checkpoints on the disk, and eight sets of weights on a shelf.
INNOCENT max_to_keep, and a shelf that is a slice (bound: 200 steps until full)
"""

from __future__ import annotations

import tempfile
from typing import List

import numpy as np
import tensorflow as tf


class Shelf:
    """The last sets of weights, for going back."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.sets: List[List[np.ndarray]] = []

    def put(self, weights: List[np.ndarray]) -> None:
        self.sets = ([*self.sets, weights])[-self.places :]


class Trainer:
    def __init__(self) -> None:
        self.w = tf.Variable(tf.random.normal([128, 256], stddev=0.05))
        self.step = tf.Variable(0, dtype=tf.int64)
        checkpoint = tf.train.Checkpoint(w=self.w, step=self.step)
        self.manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(prefix="shelf-"), max_to_keep=3)
        self.shelf = Shelf(8)

    def fit(self, x: tf.Tensor) -> None:
        hidden = tf.matmul(x, self.w)
        self.w.assign_sub(0.001 * tf.matmul(x, hidden, transpose_a=True))
        self.step.assign_add(1)
        if int(self.step) % 25 == 0:
            self.manager.save(checkpoint_number=int(self.step))
            self.shelf.put([self.w.numpy().copy(), self.step.numpy()])


def setup() -> Trainer:
    return Trainer()


def step(state: Trainer, i: int) -> None:
    state.fit(tf.constant(np.random.default_rng(i).normal(size=(8, 128)), tf.float32))
