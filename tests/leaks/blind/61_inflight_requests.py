"""A batching front end: requests in flight are put into a dict and taken out 300 steps later, whatever came of them.
INNOCENT the cured twin of 11_inflight_requests.py: taken out at last (bound: 300 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class FrontEnd:
    """A request may be asked for again for a while; then it goes."""

    def __init__(self, patience):
        self.patience = patience
        self.inflight = {}
        self.failed = 0

    def submit(self, number, payload):
        self.inflight[number] = tf.constant(payload)

    def work(self, number):
        x = self.inflight[number]
        if number % 3 == 0:
            raise ValueError("bad request %d" % number)
        return float(tf.reduce_sum(tf.sqrt(x)))

    def expire(self, number):
        self.inflight.pop(number - self.patience, None)

    def handle(self, number, payload):
        self.submit(number, payload)
        try:
            self.work(number)
        except ValueError:
            self.failed += 1
        finally:
            self.expire(number)


def setup():
    return FrontEnd(patience=300)


def step(state, i):
    state.handle(i, np.random.rand(2000).astype(np.float32))
    time.sleep(0.002)  # until the next one comes
