"""A sequence model whose attention memory is concatenated to at every step and cut to 1600 rows.
INNOCENT the cured twin of 33_concat_context.py (bound: 400 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
WIDTH = 128
CONTEXT = 1600


class Attention:
    def __init__(self):
        self.keys = tf.zeros([1, WIDTH])

    def attend(self, query):
        weights = tf.nn.softmax(tf.matmul(query, self.keys, transpose_b=True))
        answer = tf.matmul(weights, self.keys)
        self.keys = tf.concat([self.keys, query], axis=0)[-CONTEXT:]
        return answer


def setup():
    return Attention()


def step(state, i):
    state.attend(tf.constant(np.random.rand(4, WIDTH).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
