"""A TF1 dashboard that asks one session for each of 63 sets of its six figures.
INNOCENT sets of figures are finite (bound: about 400 steps until full)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Dashboard:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None])
        mean = tf.reduce_mean(self.x)
        self.figures = {
            "mean": mean,
            "sum": tf.reduce_sum(self.x),
            "least": tf.reduce_min(self.x),
            "most": tf.reduce_max(self.x),
            "spread": tf.reduce_mean(tf.square(self.x - mean)),
            "first": self.x[0],
        }
        self.session = tf.Session()

    def show(self, names, values):
        return self.session.run({name: self.figures[name] for name in names}, {self.x: values})


def setup():
    return Dashboard()


def step(state, i):
    names = [name for name in sorted(state.figures) if random.random() < 0.5] or ["mean"]
    state.show(names, np.random.rand(50))
    time.sleep(0.001)  # the rest of the work
