"""A recommender with a cache whose entries live 500 ticks, swept every 50.
INNOCENT entries expire (bound: 500 steps until full)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Ttl:
    def __init__(self, life):
        self.life = life
        self.now = 0
        self.values = {}
        self.until = {}

    def tick(self):
        self.now += 1
        if self.now % 50 == 0:
            for key in [k for k, until in self.until.items() if until <= self.now]:
                del self.values[key], self.until[key]

    def get(self, key, make):
        if key not in self.values:
            self.values[key] = make(key)
            self.until[key] = self.now + self.life
        return self.values[key]


class Recommender:
    def __init__(self):
        self.cache = Ttl(500)
        self.items = tf.constant(np.random.rand(200, 16).astype(np.float32))

    def scores(self, user):
        return tf.linalg.matvec(self.items, tf.random.stateless_normal([16], [user, 0]))

    def best(self, user):
        self.cache.tick()
        return int(tf.argmax(self.cache.get(user, self.scores)))


def setup():
    return Recommender()


def step(state, i):
    state.best(random.randrange(10**6))
    time.sleep(0.003)  # waits for input
