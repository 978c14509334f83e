"""A recommender that gives every new visitor a trainable vector and never forgets one.
LEAK variable
"""

# One step keeps a variable of 1 KB, and what TensorFlow has around it.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

WIDTH = 256


class Recommender:
    def __init__(self, items: int) -> None:
        self.items = tf.Variable(np.random.rand(items, WIDTH).astype(np.float32))
        self.users = {}

    def vector(self, user: str):
        if user not in self.users:
            self.users[user] = tf.Variable(tf.zeros([WIDTH]))  # leak
        return self.users[user]

    def learn(self, user: str, item: int, liked: float) -> float:
        vector = self.vector(user)
        score = tf.reduce_sum(vector * self.items[item])
        vector.assign_add((liked - tf.sigmoid(score)) * 0.1 * self.items[item])
        return float(score)

    def best(self, user: str) -> int:
        return int(tf.argmax(tf.linalg.matvec(self.items, self.vector(user))))


def setup():
    return Recommender(items=200)


def step(state, i):
    visitor = "cookie-%d" % i
    for item in range(3):
        state.learn(visitor, (i + item) % 200, liked=float(item % 2))
    state.best(visitor)
    time.sleep(0.001)  # the rest of the work
