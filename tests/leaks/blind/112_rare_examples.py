"""A service that keeps every twentieth prediction «for the audit».
LEAK live_tensors
TF1
"""

# Every twentieth step keeps a tensor of 8 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Service:
    def __init__(self):
        self.w = tf.constant(np.random.rand(16, 2000).astype(np.float32))
        self.audit = []
        self.served = 0

    def predict(self, x):
        out = tf.sigmoid(tf.matmul(x, self.w))  # leak, made here
        self.served += 1
        if self.served % 20 == 0:
            self.audit.append(out)  # leak
        return out


def setup():
    return Service()


def step(state, i):
    state.predict(tf.constant(np.random.rand(1, 16).astype(np.float32)))
    time.sleep(0.001)
