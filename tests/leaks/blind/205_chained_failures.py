"""A client that raises each failure «from» the last one, so that the report shows what went before.
LEAK python_objects|live_tensors
"""

# Every second batch fails; its exception keeps its traceback, whose frames have the batch, and the failure before it.
from __future__ import annotations

from typing import Optional

import numpy as np
import tensorflow as tf


class BatchRejected(RuntimeError):
    """The backend did not want this batch."""


class Backend:
    def __init__(self) -> None:
        self.w = tf.random.normal([64, 16])

    def infer(self, rows: np.ndarray) -> tf.Tensor:
        features = tf.constant(rows)
        logits = tf.matmul(features, self.w)
        if not bool(tf.reduce_all(tf.math.is_finite(logits))):
            raise ValueError("not finite")
        return tf.reduce_max(logits, axis=1)


class Client:
    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.last: Optional[BaseException] = None
        self.served = 0

    def _try(self, rows: np.ndarray) -> None:
        try:
            self.backend.infer(rows)
        except ValueError:
            raise BatchRejected("%d rows" % len(rows)) from self.last

    def send(self, rows: np.ndarray) -> bool:
        try:
            self._try(rows)
        except BatchRejected as failure:
            self.last = failure  # leak
            return False
        self.served += 1
        return True


def setup() -> Client:
    return Client(Backend())


def step(state: Client, i: int) -> None:
    rows = np.random.default_rng(i).normal(size=(64, 64)).astype(np.float32)
    if i % 2:
        rows[3, 3] = np.nan
    state.send(rows)
