"""A monitoring service that keeps the last 2500 predictions for a drift test.
INNOCENT maxlen (bound: 2500 steps until full)
TF1
"""

from __future__ import annotations

import time
from collections import deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Drift:
    def __init__(self, length):
        self.recent = deque(maxlen=length)

    def observe(self, features, score):
        self.recent.append({"features": features, "score": score})

    def mean(self):
        return sum(entry["score"] for entry in self.recent) / len(self.recent)


class Service:
    def __init__(self):
        self.w = tf.constant(np.random.rand(128, 1).astype(np.float32))
        self.drift = Drift(2500)

    def predict(self, features):
        score = float(tf.sigmoid(tf.matmul(tf.constant(features[None]), self.w))[0, 0])
        self.drift.observe(features, score)
        return score


def setup():
    return Service()


def step(state, i):
    state.predict(np.random.rand(128).astype(np.float32))
    if i % 100 == 99:
        state.drift.mean()
    time.sleep(0.001)
