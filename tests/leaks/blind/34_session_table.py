"""A fraud detector with a TensorFlow hash table from transaction to score, from which nothing is ever removed.
LEAK cache
"""

# One step keeps 32 entries of a key and a value (some 1.5 KB).

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Detector:
    def __init__(self):
        self.scores = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, default_value=-1.0)
        self.w = tf.constant(np.random.rand(16).astype(np.float32))

    def score(self, ids, features):
        scores = tf.sigmoid(tf.linalg.matvec(features, self.w))
        self.scores.insert(ids, scores)  # leak
        return scores

    def again(self, ids):
        return self.scores.lookup(ids)


def setup():
    return Detector()


def step(state, i):
    ids = tf.constant(np.arange(32 * i, 32 * i + 32))
    state.score(ids, tf.constant(np.random.rand(32, 16).astype(np.float32)))
    state.again(ids)
    time.sleep(0.002)  # until the next one comes
