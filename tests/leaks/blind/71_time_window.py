"""A rate limiter that keeps the requests of a window of 400 ticks, busy and quiet hours in turn.
INNOCENT what is too old is popped (bound: 400 steps until full, then up and down)
TF1
"""

from __future__ import annotations

import math
import time
from collections import deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Window:
    def __init__(self, span):
        self.span = span
        self.entries = deque()

    def add(self, now, features):
        self.entries.append((now, features))

    def expire(self, now):
        while self.entries and self.entries[0][0] <= now - self.span:
            self.entries.popleft()


class Limiter:
    def __init__(self):
        self.window = Window(400)
        self.w = tf.constant(np.random.rand(64).astype(np.float32))

    def tick(self, now):
        self.window.expire(now)
        for _ in range(2 + int(2 * math.sin(now / 150.0))):
            self.window.add(now, np.random.rand(64).astype(np.float32))
        if self.window.entries:
            return float(tf.reduce_sum(self.w * self.window.entries[-1][1]))
        return 0.0


def setup():
    return Limiter()


def step(state, i):
    state.tick(i)
    time.sleep(0.003)  # waits for input
