"""A telemetry writer with one NumPy buffer that doubles whenever it is full, and is written out at 1500 rows.
INNOCENT the cured twin of 121_doubling_buffer.py: it stops at 2048 rows (bound: 1024 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Telemetry:
    def __init__(self):
        self.rows = np.zeros((16, 1024), np.float32)
        self.used = 0
        self.written = 0

    def write(self, row):
        if self.used == 1500:
            self.flush()
        if self.used == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        self.rows[self.used] = row
        self.used += 1

    def flush(self):
        self.written += self.used
        self.used = 0


def setup():
    return Telemetry()


def step(state, i):
    row = tf.sqrt(tf.constant(np.random.rand(1024).astype(np.float32)))
    state.write(row.numpy())
    time.sleep(0.001)
