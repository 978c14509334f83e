"""A TF1 scorer that opens a session for each request, and closes it.
INNOCENT the cured twin of 08_session_per_request.py (bound: 1 step until full)
TF1
"""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


class Scorer:
    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, 8])
            self.y = tf.reduce_sum(self.x * 3.0, axis=1)

    def score(self, rows):
        with tf.Session(graph=self.graph) as session:
            return session.run(self.y, {self.x: rows})


def setup():
    return Scorer()


def step(state, i):
    state.score(np.ones((3, 8), np.float32))
