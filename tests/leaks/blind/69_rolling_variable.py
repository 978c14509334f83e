"""An online nearest-neighbour index in a variable of unknown length, of which the oldest rows are cut off.
INNOCENT the cured twin of 32_growing_variable.py: 4000 rows (bound: 500 steps until full)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

WIDTH = 64
MOST = 4000


class Index:
    def __init__(self):
        self.vectors = tf.Variable(tf.zeros([1, WIDTH]), shape=tf.TensorShape([None, WIDTH]))

    def add(self, rows):
        self.vectors.assign(tf.concat([self.vectors, rows], axis=0)[-MOST:])

    def nearest(self, query):
        return int(tf.argmax(tf.linalg.matvec(self.vectors, query)))


def setup():
    return Index()


def step(state, i):
    state.add(tf.constant(np.random.rand(8, WIDTH).astype(np.float32)))
    state.nearest(tf.constant(np.random.rand(WIDTH).astype(np.float32)))
    time.sleep(0.001)  # the rest of the work
