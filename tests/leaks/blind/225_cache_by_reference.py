"""A retrieval model that remembers the projection of each tensor by `tensor.ref()`, and tensors are always new.
LEAK live_tensors|python_objects
"""

# One step keeps the tensor that was asked for (8 KB) and its projection (4 KB).
from __future__ import annotations

from typing import Callable, Dict

import numpy as np
import tensorflow as tf


class ByIdentity:
    """Remembers a function's results for the same tensor."""

    def __init__(self, function: Callable[[tf.Tensor], tf.Tensor]) -> None:
        self.function = function
        self.known: Dict[object, tf.Tensor] = {}

    def __call__(self, tensor: tf.Tensor) -> tf.Tensor:
        key = tensor.ref()
        if key not in self.known:
            self.known[key] = self.function(tensor)  # leak
        return self.known[key]


class TwoTower:
    def __init__(self) -> None:
        self.w = tf.random.normal([64, 32])
        self.project = ByIdentity(self._project)

    def _project(self, queries: tf.Tensor) -> tf.Tensor:
        return tf.nn.l2_normalize(tf.matmul(queries, self.w), axis=1)  # leak, made here

    def similarity(self, queries: tf.Tensor) -> tf.Tensor:
        return tf.matmul(self.project(queries), self.project(queries), transpose_b=True)

    def contrast(self, rows: np.ndarray) -> float:
        queries = tf.constant(rows)  # leak, made here
        similarity = self.similarity(queries)
        return float(tf.reduce_mean(similarity) - tf.reduce_mean(tf.linalg.diag_part(similarity)))


def setup() -> TwoTower:
    return TwoTower()


def step(state: TwoTower, i: int) -> None:
    state.contrast(np.random.default_rng(i).normal(size=(32, 64)).astype(np.float32))
