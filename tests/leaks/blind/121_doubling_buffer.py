"""A telemetry writer with one NumPy buffer that doubles whenever it is full, and is never written out.
LEAK python_objects|native_heap
TF1
"""

# One step fills 4 KB; the buffer grows in leaps.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Telemetry:
    def __init__(self):
        self.rows = np.zeros((16, 1024), np.float32)
        self.used = 0

    def write(self, row):
        if self.used == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])  # leak
        self.rows[self.used] = row
        self.used += 1


def setup():
    return Telemetry()


def step(state, i):
    row = tf.sqrt(tf.constant(np.random.rand(1024).astype(np.float32)))
    state.write(row.numpy())
    time.sleep(0.001)
