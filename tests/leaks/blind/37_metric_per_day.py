"""A monitoring job that makes a metric object for each report, named after it.
LEAK variable|python_objects
"""

# A report every 5 steps keeps a metric with two variables.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Monitor:
    def __init__(self):
        self.metrics = {}

    def metric(self, name):
        if name not in self.metrics:
            self.metrics[name] = tf.keras.metrics.Mean(name=name)  # leak
        return self.metrics[name]

    def observe(self, report, values):
        self.metric("accuracy_%d" % report).update_state(values)


def setup():
    return Monitor()


def step(state, i):
    state.observe(i // 5, np.random.rand(16).astype(np.float32))
    time.sleep(0.002)  # until the next one comes
