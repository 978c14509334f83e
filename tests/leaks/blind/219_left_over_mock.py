"""A load test whose feature client is a mock around the true one, and a mock remembers all calls.
LEAK python_objects|live_tensors
"""

# One step keeps the arguments of one call, a tensor of 16 KB.
from __future__ import annotations

from unittest import mock

import numpy as np
import tensorflow as tf


class FeatureClient:
    def __init__(self) -> None:
        self.rows = 0

    def publish(self, user: str, vector: tf.Tensor) -> bool:
        self.rows += int(vector.shape[0])
        return True


class Encoder:
    def __init__(self) -> None:
        self.w = tf.random.normal([32, 64])

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.l2_normalize(tf.matmul(x, self.w), axis=1)


class Service:
    def __init__(self, encoder: Encoder, client: FeatureClient) -> None:
        self.encoder = encoder
        self.client = client
        self.ok = 0

    def handle(self, user: str, x: np.ndarray) -> None:
        vector = self.encoder(tf.constant(x))  # leak, made here
        if self.client.publish(user, vector):  # leak
            self.ok += 1


def offline() -> FeatureClient:
    """No network in the load test."""
    return mock.Mock(wraps=FeatureClient())


def setup() -> Service:
    return Service(Encoder(), offline())


def step(state: Service, i: int) -> None:
    x = np.random.default_rng(i).normal(size=(64, 32)).astype(np.float32)
    state.handle("user%d" % (i % 10), x)
