"""A trainer whose stream of batches is doubled with itertools.tee; of the second half, only the first batch is read.
LEAK python_objects|live_tensors
TF1
"""

# One step keeps a batch of 2 KB inside of tee, which no Python collection holds.

from __future__ import annotations

import itertools
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


def stream():
    while True:
        yield np.random.rand(8, 32)  # leak, made here


class Trainer:
    def __init__(self):
        self.batches, self.preview = itertools.tee(stream())
        self.shape = next(self.preview).shape
        self.w = tf.Variable(np.zeros((32, 1)))

    def batch(self):
        x = tf.constant(next(self.batches))  # leak
        self.w.assign_sub(0.01 * tf.matmul(x, tf.matmul(x, self.w) - 1.0, transpose_a=True))


def setup():
    return Trainer()


def step(state, i):
    state.batch()
    time.sleep(0.001)
