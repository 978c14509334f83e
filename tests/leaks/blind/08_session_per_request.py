"""A TF1 scorer that opens a session for each request and never closes one.
LEAK session_unclosed
TF1
"""

# One step keeps a session (some tens of KB). The sessions are kept in a list so that they are not dropped either.

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
        self.open_sessions = []

    def score(self, rows):
        session = tf.Session(graph=self.graph)  # leak
        self.open_sessions.append(session)
        return session.run(self.y, {self.x: rows})


def setup():
    return Scorer()


def step(state, i):
    state.score(np.ones((3, 8), np.float32))
