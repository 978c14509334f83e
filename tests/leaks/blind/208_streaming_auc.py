"""A ranking evaluation that concatenates all scores and labels, since the AUC needs all of them.
LEAK live_tensors|python_objects
"""

# One step makes the two tensors 12 KB longer.
from __future__ import annotations

import numpy as np
import tensorflow as tf


class StreamingAuc:
    """The exact AUC of everything so far."""

    def __init__(self) -> None:
        self.scores = tf.zeros([0])
        self.labels = tf.zeros([0], tf.int64)

    def update(self, scores: tf.Tensor, labels: tf.Tensor) -> None:
        self.scores = tf.concat([self.scores, scores], axis=0)  # leak
        self.labels = tf.concat([self.labels, labels], axis=0)  # leak

    def result(self) -> float:
        order = tf.argsort(self.scores)
        positive = tf.cast(tf.gather(self.labels, order), tf.float32)
        ranks = tf.range(1.0, tf.cast(tf.size(positive), tf.float32) + 1.0)
        n = tf.reduce_sum(positive)
        m = tf.cast(tf.size(positive), tf.float32) - n
        return float((tf.reduce_sum(ranks * positive) - n * (n + 1) / 2) / (n * m + 1e-6))


class RankingMonitor:
    def __init__(self) -> None:
        self.w = tf.random.normal([48, 1])
        self.auc = StreamingAuc()
        self.reported = 0.0

    def observe(self, rows: np.ndarray, clicked: np.ndarray, report: bool) -> None:
        scores = tf.sigmoid(tf.matmul(tf.constant(rows), self.w))[:, 0]
        self.auc.update(scores, tf.constant(clicked))
        if report:
            self.reported = self.auc.result()


def setup() -> RankingMonitor:
    return RankingMonitor()


def step(state: RankingMonitor, i: int) -> None:
    random = np.random.default_rng(i)
    rows = random.normal(size=(1024, 48)).astype(np.float32)
    state.observe(rows, random.integers(0, 2, size=1024), report=i % 100 == 99)
