"""A recommender in which visitors share 128 vectors of one variable, by the hash of their name.
INNOCENT the cured twin of 06_user_vectors.py (bound: 1 step until full)
"""

from __future__ import annotations

import time
import zlib

import numpy as np
import tensorflow as tf

WIDTH = 256


class Recommender:
    def __init__(self, items: int, buckets: int) -> None:
        self.items = tf.Variable(np.random.rand(items, WIDTH).astype(np.float32))
        self.users = tf.Variable(tf.zeros([buckets, WIDTH]))
        self.buckets = buckets

    def bucket(self, user: str) -> int:
        return zlib.crc32(user.encode()) % self.buckets

    def learn(self, user: str, item: int, liked: float) -> float:
        bucket = self.bucket(user)
        score = tf.reduce_sum(self.users[bucket] * self.items[item])
        change = (liked - tf.sigmoid(score)) * 0.1 * self.items[item]
        self.users.scatter_nd_add([[bucket]], [change])
        return float(score)


def setup():
    return Recommender(items=200, buckets=128)


def step(state, i):
    visitor = "cookie-%d" % i
    for item in range(3):
        state.learn(visitor, (i + item) % 200, liked=float(item % 2))
    time.sleep(0.002)  # until the next one comes
