"""A notebook-like class that keeps the activations of each batch in an attribute of its own.
LEAK live_tensors
TF1
"""

# One step keeps a tensor of 8 KB and an attribute's name.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Experiment:
    def __init__(self):
        self.w = tf.constant(np.random.rand(32, 64).astype(np.float32))

    def run(self, number, x):
        hidden = tf.nn.relu(tf.matmul(x, self.w))  # leak, made here
        setattr(self, "batch_%d" % number, hidden)  # leak
        return hidden


def setup():
    return Experiment()


def step(state, i):
    state.run(i, tf.constant(np.random.rand(32, 32).astype(np.float32)))
    time.sleep(0.002)
