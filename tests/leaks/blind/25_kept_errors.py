"""A serving loop that keeps the exceptions of bad requests for an error page; their tracebacks keep the requests.
LEAK python_objects|live_tensors
TF1
"""

# Each second request keeps an exception, its frames, and a tensor and an array of 4 KB.

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
        tensor = tf.constant(body)  # leak, made here
        if body.shape[0] % 2:
            raise BadRequest("odd length %d" % body.shape[0])  # leak, made here
        return tf.reshape(tensor, [2, -1])

    def handle(self, body):
        try:
            return float(tf.reduce_max(self.decode(body)))
        except BadRequest as error:
            self.errors.append(error)  # leak
            return None


def setup():
    return Server()


def step(state, i):
    state.handle(np.random.rand(1000 + i % 2).astype(np.float32))
    time.sleep(0.002)  # until the next one comes
