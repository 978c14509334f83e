"""A meta-learner that keeps the iterator of each (task, seed), so that a task could be gone on with.
LEAK dataset_iterator|python_objects
"""

# Every fourth step keeps an iterator, and its dataset.
from __future__ import annotations

from typing import Dict, Tuple

import numpy as np
import tensorflow as tf


class TaskSource:
    def __init__(self) -> None:
        rows = np.random.default_rng(0).normal(size=(256, 16)).astype(np.float32)
        self.base = tf.data.Dataset.from_tensor_slices(rows)

    def episode(self, seed: int) -> tf.data.Dataset:
        return self.base.shuffle(64, seed=seed).batch(8, drop_remainder=True)


class MetaLearner:
    def __init__(self, source: TaskSource) -> None:
        self.source = source
        self.streams: Dict[Tuple[str, int], object] = {}
        self.w = tf.Variable(tf.zeros([16, 1]))

    def stream(self, task: str, seed: int):
        key = (task, seed)
        if key not in self.streams:
            self.streams[key] = iter(self.source.episode(seed))  # leak
        return self.streams[key]

    def inner(self, task: str, seed: int) -> float:
        batch = next(self.stream(task, seed))
        error = tf.reduce_mean(tf.matmul(batch, self.w) - 1.0)
        self.w.assign_sub(0.001 * tf.reshape(tf.reduce_mean(batch, axis=0), [16, 1]) * error)
        return float(error)


def setup() -> MetaLearner:
    return MetaLearner(TaskSource())


def step(state: MetaLearner, i: int) -> None:
    episode = i // 4
    state.inner("task%d" % (episode % 6), 1000 + episode)
