"""A feature service that computes in a pool of 16 threads, each with scratch memory of its own.
INNOCENT a pool of threads (bound: some 20–200 steps until full)
TF1
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Service:
    def __init__(self):
        self.pool = ThreadPoolExecutor(max_workers=16)
        self.local = threading.local()

    def scratch(self):
        if not hasattr(self.local, "rows"):
            self.local.rows = np.ones((64, 512), np.float32)
            self.local.kept = []
        return self.local.rows

    def compute(self, seed):
        rows = self.scratch()
        rows[seed % 64] = seed % 7
        self.local.kept.append(rows[seed % 64].copy())
        if len(self.local.kept) >= 20:
            self.local.kept.clear()
        return float(tf.reduce_sum(tf.constant(rows)))

    def handle(self, i):
        return sum(self.pool.map(self.compute, range(4 * i, 4 * i + 4)))


def setup():
    return Service()


def step(state, i):
    state.handle(i)
    time.sleep(0.001)  # the rest of the work
