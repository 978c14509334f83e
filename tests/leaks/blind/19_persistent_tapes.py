"""A sensitivity analysis that keeps its persistent tapes, «to ask for more gradients later».
LEAK tape|live_tensors
"""

# One step keeps a tape and its intermediate tensors, some 30 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Sensitivity:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 64).astype(np.float32))
        self.tapes = {}

    def analyse(self, number, x):
        with tf.GradientTape(persistent=True) as tape:  # leak, made here
            tape.watch(x)
            hidden = tf.tanh(tf.matmul(x, self.w))
            total = tf.reduce_sum(hidden * hidden)
        self.tapes[number] = tape  # leak
        return tape.gradient(total, x)


def setup():
    return Sensitivity()


def step(state, i):
    state.analyse(i, tf.constant(np.random.rand(32, 64).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
