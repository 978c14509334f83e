"""A text embedder with a cache of 256 tensors: functools.lru_cache on a function of the module.
INNOCENT the cured twin of 28_cached_method.py: maxsize (bound: 256 steps until full)
TF1
"""

from __future__ import annotations

import functools
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
table = tf.constant(np.random.rand(256, 256).astype(np.float32))


@functools.lru_cache(maxsize=256)
def embed(text):
    codes = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
    return tf.reduce_mean(tf.gather(table, codes), axis=0)


def similarity(a, b):
    return float(tf.reduce_sum(embed(a) * embed(b)))


def setup():
    return None


def step(state, i):
    similarity("the question", "the answer to request number %d" % i)
    time.sleep(0.002)  # until the next one comes
