"""A sequence model whose attention memory is concatenated to at every step and never cut.
LEAK live_tensors
TF1
"""

# One step makes the tensor 2 KB longer.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
WIDTH = 128


class Attention:
    def __init__(self):
        self.keys = tf.zeros([1, WIDTH])

    def attend(self, query):
        weights = tf.nn.softmax(tf.matmul(query, self.keys, transpose_b=True))
        answer = tf.matmul(weights, self.keys)
        self.keys = tf.concat([self.keys, query], axis=0)  # leak
        return answer


def setup():
    return Attention()


def step(state, i):
    state.attend(tf.constant(np.random.rand(4, WIDTH).astype(np.float32)))
    time.sleep(0.001)  # the rest of the work
