"""A layer inspector that hangs a closure over the activations on the model's hooks at every call.
LEAK live_tensors|python_objects
TF1
"""

# One step keeps a closure and a tensor of 16 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Inspected:
    def __init__(self):
        self.w = tf.constant(np.random.rand(64, 64).astype(np.float32))
        self.after_batch = []

    def forward(self, x):
        hidden = tf.nn.relu(tf.matmul(x, self.w))  # leak, made here

        def mean_activation():
            return float(tf.reduce_mean(hidden))

        self.after_batch.append(mean_activation)  # leak
        return tf.reduce_sum(hidden, axis=1)


def setup():
    return Inspected()


def step(state, i):
    state.forward(tf.constant(np.random.rand(64, 64).astype(np.float32)))
    if i % 100 == 0:
        state.after_batch[-1]()
    time.sleep(0.002)  # until the next one comes
