"""A scheduler whose timeouts are in a heap; who is done cancels his timeout, and the entry stays until it is due.
LEAK python_objects
TF1
"""

# One step keeps a list with a callback and its request of 1.6 KB; it is due after a day.

from __future__ import annotations

import heapq
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Scheduler:
    def __init__(self):
        self.heap = []
        self.number = 0

    def call_at(self, when, callback):
        self.number += 1
        entry = [when, self.number, callback, False]  # leak, made here
        heapq.heappush(self.heap, entry)  # leak
        return entry

    def cancel(self, entry):
        entry[3] = True

    def run_due(self, now):
        while self.heap and self.heap[0][0] <= now:
            _, _, callback, cancelled = heapq.heappop(self.heap)
            if not cancelled:
                callback()


class Request:
    def __init__(self, number):
        self.number = number
        self.payload = np.random.rand(200)

    def timed_out(self):
        self.payload = None


def setup():
    return Scheduler()


def step(state, i):
    now = time.time()
    request = Request(i)
    timeout = state.call_at(now + 86400, request.timed_out)  # leak
    float(tf.reduce_sum(tf.constant(request.payload)))
    state.cancel(timeout)
    state.run_due(now)
    time.sleep(0.002)
