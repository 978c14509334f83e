"""A cache that has a limit and evicts from its list of keys, but forgets the values.
LEAK live_tensors|python_objects
TF1
"""

# One step keeps a tensor of 1 KB; the list of keys stays at 100.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Cache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.order = []
        self.values = {}

    def put(self, key, value):
        self.values[key] = value  # leak
        self.order.append(key)
        if len(self.order) > self.capacity:
            self.order.pop(0)

    def get(self, key):
        return self.values.get(key)


class Embedder:
    def __init__(self):
        self.table = tf.constant(np.random.rand(256, 256).astype(np.float32))
        self.cache = Cache(100)

    def embed(self, text):
        vector = self.cache.get(text)
        if vector is None:
            codes = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
            vector = tf.reduce_mean(tf.gather(self.table, codes), axis=0)  # leak, made here
            self.cache.put(text, vector)
        return vector


def setup():
    return Embedder()


def step(state, i):
    float(tf.norm(state.embed("request number %d" % i)))
    time.sleep(0.002)
