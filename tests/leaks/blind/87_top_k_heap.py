"""An evaluation job that keeps the thousand hardest samples in a heap.
INNOCENT heapreplace (bound: 250 steps until full)
TF1
"""

from __future__ import annotations

import heapq
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Hardest:
    def __init__(self, most):
        self.most = most
        self.heap = []

    def offer(self, loss, number, sample):
        entry = (loss, number, sample)
        if len(self.heap) < self.most:
            heapq.heappush(self.heap, entry)
        elif loss > self.heap[0][0]:
            heapq.heapreplace(self.heap, entry)


class Evaluation:
    def __init__(self):
        self.w = tf.constant(np.random.rand(64, 1).astype(np.float32))
        self.hardest = Hardest(1000)

    def batch(self, i):
        x = np.random.rand(4, 64).astype(np.float32)
        losses = tf.square(tf.matmul(tf.constant(x), self.w)[:, 0] - 16.0).numpy()
        for k, loss in enumerate(losses):
            self.hardest.offer(float(loss), 4 * i + k, x[k].copy())


def setup():
    return Evaluation()


def step(state, i):
    state.batch(i)
    time.sleep(0.001)  # the rest of the work
