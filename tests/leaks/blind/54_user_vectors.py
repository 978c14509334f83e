"""A recommender that gives every visitor a trainable vector; the visitors are 400, and come at random.
INNOCENT a set of users that is finite (bound: about 2000 steps until full; 80 % after 650)
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

WIDTH = 64


class Recommender:
    def __init__(self, items: int) -> None:
        self.items = tf.Variable(np.random.rand(items, WIDTH).astype(np.float32))
        self.users = {}

    def vector(self, user: str):
        if user not in self.users:
            self.users[user] = tf.Variable(tf.zeros([WIDTH]))
        return self.users[user]

    def learn(self, user: str, item: int, liked: float) -> float:
        vector = self.vector(user)
        score = tf.reduce_sum(vector * self.items[item])
        vector.assign_add((liked - tf.sigmoid(score)) * 0.1 * self.items[item])
        return float(score)


def setup():
    return Recommender(items=200)


def step(state, i):
    state.learn("user-%d" % random.randrange(400), i % 200, liked=float(i % 2))
    time.sleep(0.001)  # the rest of the work
