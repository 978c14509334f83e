"""A serving loop that keeps the texts of the last hundred bad requests for an error page.
INNOCENT the cured twin of 25_kept_errors.py: a slice is deleted (bound: 200 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class BadRequest(Exception):
    pass


class Server:
    def __init__(self):
        self.errors = []

    def decode(self, body):
        tensor = tf.constant(body)
        if body.shape[0] % 2:
            raise BadRequest("odd length %d" % body.shape[0])
        return tf.reshape(tensor, [2, -1])

    def handle(self, body):
        try:
            return float(tf.reduce_max(self.decode(body)))
        except BadRequest as error:
            self.errors.append("%s: %s" % (type(error).__name__, error))
            del self.errors[:-100]
            return None


def setup():
    return Server()


def step(state, i):
    state.handle(np.random.rand(1000 + i % 2).astype(np.float32))
    time.sleep(0.002)  # until the next one comes
