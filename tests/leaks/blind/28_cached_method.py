"""A text embedder with an unbounded lru_cache on its method.
LEAK live_tensors|python_objects
TF1
"""

# One step keeps a tensor of 1 KB, a string and the cache's entry.

from __future__ import annotations

import functools
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Embedder:
    def __init__(self):
        self.table = tf.constant(np.random.rand(256, 256).astype(np.float32))

    @functools.lru_cache(maxsize=None)  # noqa: B019  # leak
    def embed(self, text):
        codes = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
        return tf.reduce_mean(tf.gather(self.table, codes), axis=0)  # leak, made here

    def similarity(self, a, b):
        return float(tf.reduce_sum(self.embed(a) * self.embed(b)))  # leak


def setup():
    return Embedder()


def step(state, i):
    state.similarity("the question", "the answer to request number %d" % i)
    time.sleep(0.002)  # until the next one comes
