"""A model server whose request contexts subscribe to the model's reload event by weak references.
INNOCENT the cured twin of 18_subscriptions.py: WeakMethod, swept when there are 256 (bound: 256 steps until full)
TF1
"""

from __future__ import annotations

import time
import weakref

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Event:
    def __init__(self):
        self.handlers = []

    def subscribe(self, handler):
        self.handlers.append(weakref.WeakMethod(handler))
        if len(self.handlers) > 256:
            self.handlers = [h for h in self.handlers if h() is not None]

    def fire(self):
        for handler in self.handlers:
            method = handler()
            if method is not None:
                method()


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
        model.reloaded.subscribe(self.on_reload)

    def on_reload(self):
        self.stale = True

    def answer(self):
        return float(self.model(tf.constant(self.payload)))


def setup():
    return Model()


def step(state, i):
    context = Context(state, np.random.rand(512).astype(np.float32))
    context.answer()
    if i % 500 == 499:
        state.reloaded.fire()
    time.sleep(0.001)  # the rest of the work
