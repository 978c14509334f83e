"""A fraud detector with a TensorFlow hash table of 20,000 accounts, which are met one after the other.
INNOCENT the cured twin of 34_session_table.py: keys are finite (bound: 625 steps until full)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

ACCOUNTS = 20000


class Detector:
    def __init__(self):
        self.scores = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, default_value=-1.0)
        self.w = tf.constant(np.random.rand(16).astype(np.float32))

    def score(self, accounts, features):
        scores = tf.sigmoid(tf.linalg.matvec(features, self.w))
        self.scores.insert(accounts, scores)
        return scores

    def again(self, accounts):
        return self.scores.lookup(accounts)


def setup():
    return Detector()


def step(state, i):
    accounts = tf.constant(np.arange(32 * i, 32 * i + 32) % ACCOUNTS)
    state.score(accounts, tf.constant(np.random.rand(32, 16).astype(np.float32)))
    state.again(accounts)
    time.sleep(0.002)  # until the next one comes
