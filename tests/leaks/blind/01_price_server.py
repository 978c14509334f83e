"""A price server: every request brings its own boost as a Python number.
LEAK retrace
"""

# One step keeps one trace (some 50–200 KB).

from __future__ import annotations

import random

import numpy as np
import tensorflow as tf


class PriceServer:
    """Scores requests with a small linear model."""

    def __init__(self) -> None:
        self.weights = tf.Variable(np.random.rand(32, 8).astype(np.float32))
        self.random = random.Random(1)

    @tf.function
    def score(self, features, boost):
        """The best score of the request's rows."""
        return tf.reduce_max(tf.matmul(features, self.weights) * boost)

    def handle(self, features, market):
        """One request: features and a market's factor."""
        boost = 1.0 + market * self.random.random()
        return float(self.score(tf.constant(features), boost))  # leak


def setup():
    return PriceServer()


def step(state, i):
    features = np.random.rand(4, 32).astype(np.float32)
    state.handle(features, market=0.25)
