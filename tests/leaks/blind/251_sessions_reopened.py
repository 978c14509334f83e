"""A TF1 evaluation that opens a graph and a session for each fifth batch, and closes both.
INNOCENT with-blocks (bound: 40 steps until full)
"""

from __future__ import annotations

import contextlib
from typing import Iterator, Optional, Tuple

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class Fold:
    def __init__(self, session, x, out) -> None:
        self.session, self.x, self.out = session, x, out

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.session.run(self.out, {self.x: rows})


@contextlib.contextmanager
def fold(size: int) -> Iterator[Fold]:
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, size])
        w = tf1.get_variable("w", [size, 8], use_resource=True)
        out = tf.nn.softmax(tf.matmul(x, w))
        with tf1.Session(graph=graph) as session:
            session.run(tf1.global_variables_initializer())
            yield Fold(session, x, out)


class Evaluation:
    def __init__(self) -> None:
        self.opened: Optional[Tuple[object, Fold]] = None
        self.total = 0.0

    def batch(self, i: int, rows: np.ndarray) -> None:
        if i % 5 == 0:
            self.close()
            manager = fold(rows.shape[1])
            self.opened = manager, manager.__enter__()
        self.total += float(self.opened[1].predict(rows).max())

    def close(self) -> None:
        if self.opened is not None:
            manager, _ = self.opened
            manager.__exit__(None, None, None)
            self.opened = None


def setup() -> Evaluation:
    return Evaluation()


def step(state: Evaluation, i: int) -> None:
    state.batch(i, np.random.default_rng(i).normal(size=(16, 20)).astype(np.float32))
