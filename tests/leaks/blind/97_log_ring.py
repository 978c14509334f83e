"""A service whose log records are held by a memory handler, and written when there are 400.
INNOCENT a flush empties it (bound: 200 steps until full, then a saw)
TF1
"""

from __future__ import annotations

import logging
import logging.handlers
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Service:
    def __init__(self):
        self.log = logging.getLogger("blind.ring")
        self.log.propagate = False
        self.log.setLevel(logging.INFO)
        handler = logging.handlers.MemoryHandler(400, flushLevel=logging.CRITICAL, target=logging.NullHandler())
        self.log.addHandler(handler)

    def handle(self, i, x):
        out = tf.reduce_sum(tf.sqrt(x))
        self.log.info("request %d of %s", i, x)
        self.log.info("request %d gave %s", i, out)
        return float(out)


def setup():
    return Service()


def step(state, i):
    state.handle(i, tf.constant(np.random.rand(500).astype(np.float32)))
    time.sleep(0.002)  # until the next one comes
