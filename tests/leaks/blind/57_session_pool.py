"""A TF1 scorer with a pool of sessions, which opens one when it has none to spare and keeps at most 24.
INNOCENT a pool with a size (bound: 240 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


class Pool:
    def __init__(self, graph, size):
        self.graph = graph
        self.size = size
        self.idle = []
        self.made = 0

    def take(self, urgent):
        if self.idle and (not urgent or self.made == self.size):
            return self.idle.pop()
        self.made += 1
        return tf.Session(graph=self.graph)

    def give(self, session):
        self.idle.append(session)


class Scorer:
    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, 8])
            self.y = tf.reduce_sum(self.x * 3.0, axis=1)
        self.pool = Pool(self.graph, 24)

    def score(self, rows, urgent):
        session = self.pool.take(urgent)
        try:
            return session.run(self.y, {self.x: rows})
        finally:
            self.pool.give(session)


def setup():
    return Scorer()


def step(state, i):
    state.score(np.ones((3, 8), np.float32), urgent=i % 10 == 0)
    time.sleep(0.001)  # the rest of the work
