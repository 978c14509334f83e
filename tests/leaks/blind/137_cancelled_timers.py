"""A scheduler whose timeouts are in a heap, and which throws the cancelled ones out when they are more than 500.
INNOCENT the cured twin of 116_cancelled_timers.py: compaction (bound: 500 steps until full, then a saw)
TF1
"""

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
        self.cancelled = 0

    def call_at(self, when, callback):
        self.number += 1
        entry = [when, self.number, callback, False]
        heapq.heappush(self.heap, entry)
        return entry

    def cancel(self, entry):
        entry[3] = True
        self.cancelled += 1
        if self.cancelled > 500:
            self.heap = [e for e in self.heap if not e[3]]
            heapq.heapify(self.heap)
            self.cancelled = 0


class Request:
    def __init__(self, number):
        self.number = number
        self.payload = np.random.rand(200)

    def timed_out(self):
        self.payload = None


def setup():
    return Scheduler()


def step(state, i):
    request = Request(i)
    timeout = state.call_at(time.time() + 86400, request.timed_out)
    float(tf.reduce_sum(tf.constant(request.payload)))
    state.cancel(timeout)
    time.sleep(0.002)
