"""A recommender with a feature store in another module, whose key has the time in it, and which keeps 600 rows.
INNOCENT the cured twin of 21_recommender_cache.py: least recently used go (bound: 600 steps until full)
TF1
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from parts.feature_store import BoundedFeatureStore, raw_features

tf.compat.v1.enable_v2_behavior()
WIDTH = 512


class Recommender:
    def __init__(self):
        self.store = BoundedFeatureStore(WIDTH, most=600)
        self.items = tf.constant(np.random.rand(WIDTH, 50).astype(np.float32))

    def compute(self, user):
        return np.log1p(raw_features(user, WIDTH))

    def top(self, user, moment):
        row = self.store.get(user, moment, self.compute)
        return tf.nn.top_k(tf.matmul(tf.constant(row[None]), self.items), k=3).indices.numpy()


def setup():
    return Recommender()


def step(state, i):
    state.top(user=i % 40, moment=1700000000 + i)
    time.sleep(0.003)  # waits for input
