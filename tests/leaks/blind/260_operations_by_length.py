"""A TF1 server that adds the operations for a length when a text of it comes first; there are 45 lengths.
INNOCENT operations are looked up by length (bound: about 300 steps until full; 85 % after 100)
"""

from __future__ import annotations

import random
from typing import Any, Dict, Tuple

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class PooledGraph:
    def __init__(self) -> None:
        self.graph = tf.Graph()
        self.by_length: Dict[int, Tuple[Any, Any]] = {}
        self.session = tf1.Session(graph=self.graph)

    def operations(self, length: int) -> Tuple[Any, Any]:
        if length not in self.by_length:
            with self.graph.as_default():
                x = tf1.placeholder(tf.float32, [length, 24])
                weights = tf.constant(np.hanning(length + 2)[1:-1, None], tf.float32)
                self.by_length[length] = x, tf.reduce_sum(x * weights, axis=0) / tf.reduce_sum(weights)
        return self.by_length[length]

    def pool(self, rows: np.ndarray) -> np.ndarray:
        x, out = self.operations(len(rows))
        return self.session.run(out, {x: rows})


class Server:
    def __init__(self) -> None:
        self.pooled = PooledGraph()
        self.random = random.Random(21)

    def text(self) -> None:
        length = 3 + min(44, max(0, int(self.random.triangular(-8, 52, 15))))
        self.pooled.pool(np.ones((length, 24), np.float32))


def setup() -> Server:
    return Server()


def step(state: Server, i: int) -> None:
    state.text()
