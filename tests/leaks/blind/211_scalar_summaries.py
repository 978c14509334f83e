"""A TF1 trainer whose metrics logger makes a new summary operation for each value that it writes.
LEAK graph_growth
"""

# Every third step adds two placeholders and two summaries to the graph.
from __future__ import annotations

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class MetricsLogger:
    """Turns values into serialised summaries, as TensorBoard wants them."""

    def __init__(self, session) -> None:
        self.session = session
        self.written = 0

    def log(self, **values: float) -> None:
        with self.session.graph.as_default():
            for tag, value in sorted(values.items()):
                slot = tf1.placeholder(tf.float32, [])  # leak
                summary = tf1.summary.scalar(tag, slot)  # leak
                self.written += len(self.session.run(summary, {slot: value}))


class Trainer:
    def __init__(self) -> None:
        graph = tf.Graph()
        with graph.as_default():
            self.x = tf1.placeholder(tf.float32, [None, 16])
            self.y = tf1.placeholder(tf.float32, [None, 1])
            w = tf1.get_variable("w", [16, 1], use_resource=True)
            error = tf.matmul(self.x, w) - self.y
            self.loss = tf.reduce_mean(tf.square(error))
            self.norm = tf.norm(w)
            self.train = tf1.train.GradientDescentOptimizer(0.01).minimize(self.loss)
            init = tf1.global_variables_initializer()
        self.session = tf1.Session(graph=graph)
        self.session.run(init)
        self.logger = MetricsLogger(self.session)

    def fit(self, x: np.ndarray, y: np.ndarray, log: bool) -> None:
        loss, norm, _ = self.session.run([self.loss, self.norm, self.train], {self.x: x, self.y: y})
        if log:
            self.logger.log(loss=loss, norm=norm)


def setup() -> Trainer:
    return Trainer()


def step(state: Trainer, i: int) -> None:
    random = np.random.default_rng(i)
    x = random.normal(size=(32, 16))
    state.fit(x, x[:, :1] + 0.1, log=i % 3 == 0)
