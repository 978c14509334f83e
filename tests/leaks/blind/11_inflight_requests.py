"""A batching front end: requests in flight are put into a dict, and only the ones that succeed are taken out.
LEAK live_tensors
TF1
"""

# One request of three fails; it keeps its tensor of 8 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class FrontEnd:
    def __init__(self):
        self.inflight = {}
        self.failed = 0

    def submit(self, number, payload):
        self.inflight[number] = tf.constant(payload)  # leak

    def work(self, number):
        x = self.inflight[number]
        if number % 3 == 0:
            raise ValueError("bad request %d" % number)
        return float(tf.reduce_sum(tf.sqrt(x)))

    def complete(self, number):
        del self.inflight[number]

    def handle(self, number, payload):
        self.submit(number, payload)
        try:
            self.work(number)
            self.complete(number)
        except ValueError:
            self.failed += 1


def setup():
    return FrontEnd()


def step(state, i):
    state.handle(i, np.random.rand(2000).astype(np.float32))
    time.sleep(0.003)  # waits for input
