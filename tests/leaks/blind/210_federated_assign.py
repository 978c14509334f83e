"""A federated server on TF1 that loads the averaged weights of each round with `var.assign(value)`.
LEAK graph_growth
"""

# One step adds a constant (9 KB) and an Assign to the graph.
from __future__ import annotations

from typing import List

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class GlobalModel:
    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf1.placeholder(tf.float32, [None, 48])
            self.w = tf1.get_variable("w", [48, 48], use_resource=True)
            self.out = tf.nn.relu(tf.matmul(self.x, self.w))
            init = tf1.global_variables_initializer()
        self.session = tf1.Session(graph=self.graph)
        self.session.run(init)

    def weights(self) -> List[np.ndarray]:
        return self.session.run([self.w])

    def load(self, values: List[np.ndarray]) -> None:
        with self.graph.as_default():
            for variable, value in zip([self.w], values):
                self.session.run(variable.assign(value))  # leak

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.session.run(self.out, {self.x: x})


class Client:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def train(self, weights: List[np.ndarray]) -> List[np.ndarray]:
        return [w + 0.01 * self.random.normal(size=w.shape).astype(np.float32) for w in weights]


class Server:
    def __init__(self) -> None:
        self.model = GlobalModel()
        self.clients = [Client(seed) for seed in range(3)]

    def round(self) -> None:
        start = self.model.weights()
        answers = [client.train(start) for client in self.clients]
        self.model.load([np.mean(group, axis=0) for group in zip(*answers)])


def setup() -> Server:
    return Server()


def step(state: Server, i: int) -> None:
    state.round()
    state.model.predict(np.ones((8, 48), np.float32))
