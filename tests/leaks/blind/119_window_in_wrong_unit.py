"""A rate limiter with a time window that never expires anything: it compares seconds with milliseconds.
LEAK python_objects
TF1
"""

# One step keeps two pairs with an array of 256 bytes.

from __future__ import annotations

import time
from collections import deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
WINDOW_MS = 500


class Window:
    def __init__(self):
        self.entries = deque()

    def add(self, features):
        self.entries.append((time.time(), features))  # leak

    def expire(self):
        oldest = time.time() - WINDOW_MS * 1000
        while self.entries and self.entries[0][0] < oldest:
            self.entries.popleft()


class Limiter:
    def __init__(self):
        self.window = Window()
        self.w = tf.constant(np.random.rand(64).astype(np.float32))

    def request(self):
        self.window.expire()
        for _ in range(2):
            self.window.add(np.random.rand(64).astype(np.float32))  # leak, made here
        return float(tf.reduce_sum(self.w * self.window.entries[-1][1]))


def setup():
    return Limiter()


def step(state, i):
    state.request()
    time.sleep(0.002)
