"""A forecaster that keeps the last load curve of each of the 672 quarters of an hour of a week.
INNOCENT keys are modulo the week (bound: 672 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
QUARTERS = 7 * 24 * 4


class Forecast:
    def __init__(self):
        self.profile = {}

    def observe(self, quarter, curve):
        self.profile[quarter % QUARTERS] = tf.constant(curve)

    def predict(self, quarter):
        before = self.profile.get((quarter + 1) % QUARTERS)
        return 0.0 if before is None else float(tf.reduce_mean(before))


def setup():
    return Forecast()


def step(state, i):
    state.observe(i, np.random.rand(500).astype(np.float32))
    state.predict(i)
    time.sleep(0.003)  # waits for input
