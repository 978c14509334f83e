"""A request tracer with a registry of all requests alive, by weak references; a worker holds the last 350.
INNOCENT WeakValueDictionary (bound: 350 steps until full)
TF1
"""

from __future__ import annotations

import time
import weakref
from collections import deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Request:
    def __init__(self, number, payload):
        self.number = number
        self.payload = payload


class Tracer:
    def __init__(self):
        self.alive = weakref.WeakValueDictionary()

    def begin(self, request):
        self.alive[request.number] = request


class Worker:
    def __init__(self, tracer):
        self.tracer = tracer
        self.recent = deque(maxlen=350)

    def handle(self, request):
        self.tracer.begin(request)
        self.recent.append(request)
        return float(tf.reduce_sum(tf.constant(request.payload)))


def setup():
    return Worker(Tracer())


def step(state, i):
    state.handle(Request(i, np.random.rand(300)))
    time.sleep(0.003)  # waits for input
