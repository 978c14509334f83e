"""A TF1 evaluation that builds a graph for each fold and keeps the graphs beside the results.
LEAK graph_growth|variable|session_unclosed|model_rebuild|python_objects
TF1
"""

# One step keeps a graph of some ten operations; its session is closed.

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf


class Folds:
    def __init__(self, data):
        self.data = data
        self.results = []

    def evaluate(self, fold):
        graph = tf.Graph()  # leak
        with graph.as_default(), tf.Session(graph=graph) as session:
            x = tf.placeholder(tf.float32, [None, 8])
            centre = tf.reduce_mean(x, axis=0)
            spread = tf.reduce_mean(tf.square(x - centre))
            value = session.run(spread, {x: self.data[fold::5]})
        self.results.append((graph, value))  # leak


def setup():
    return Folds(np.random.rand(50, 8).astype(np.float32))


def step(state, i):
    state.evaluate(i % 5)
