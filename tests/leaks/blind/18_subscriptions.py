"""A model server whose request contexts subscribe to the model's reload event and never unsubscribe.
LEAK python_objects
TF1
"""

# One step keeps a bound method, its context and the context's array of 2 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Event:
    def __init__(self):
        self.handlers = []

    def subscribe(self, handler):
        self.handlers.append(handler)  # leak

    def unsubscribe(self, handler):
        self.handlers.remove(handler)

    def fire(self):
        for handler in list(self.handlers):
            handler()


class Model:
    def __init__(self):
        self.reloaded = Event()
        self.scale = tf.Variable(1.0)

    def __call__(self, x):
        return tf.reduce_sum(x * self.scale)


class Context:
    def __init__(self, model, payload):
        self.model = model
        self.payload = payload
        self.stale = False
        model.reloaded.subscribe(self.on_reload)  # leak

    def on_reload(self):
        self.stale = True

    def answer(self):
        return float(self.model(tf.constant(self.payload)))


def setup():
    return Model()


def step(state, i):
    context = Context(state, np.random.rand(512).astype(np.float32))  # leak, made here
    context.answer()
    if i % 500 == 499:
        state.reloaded.fire()
    time.sleep(0.001)  # the rest of the work
