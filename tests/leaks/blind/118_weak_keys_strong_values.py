"""A service that remembers what it computed for a request by weak key, and the value has the request in it.
LEAK python_objects|live_tensors
TF1
"""

# One step keeps a request, its array of 1.6 KB and its result: the value keeps its own key.

from __future__ import annotations

import time
import weakref

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Request:
    def __init__(self, number):
        self.number = number
        self.features = np.random.rand(200)


class Answer:
    def __init__(self, request, score):
        self.request = request
        self.score = score


class Service:
    def __init__(self):
        self.answers = weakref.WeakKeyDictionary()

    def answer(self, request):
        if request not in self.answers:
            score = tf.reduce_mean(tf.constant(request.features))  # leak, made here
            self.answers[request] = Answer(request, score)  # leak
        return self.answers[request]


def setup():
    return Service()


def step(state, i):
    request = Request(i)  # leak, made here
    float(state.answer(request).score)
    state.answer(request)
    time.sleep(0.001)
