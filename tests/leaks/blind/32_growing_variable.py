"""An online nearest-neighbour index in a variable of unknown length, which grows by assignment.
LEAK variable|live_tensors
"""

# One step makes the variable 2 KB longer.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

WIDTH = 64


class Index:
    def __init__(self):
        self.vectors = tf.Variable(tf.zeros([1, WIDTH]), shape=tf.TensorShape([None, WIDTH]))

    def add(self, rows):
        self.vectors.assign(tf.concat([self.vectors, rows], axis=0))  # leak

    def nearest(self, query):
        return int(tf.argmax(tf.linalg.matvec(self.vectors, query)))


def setup():
    return Index()


def step(state, i):
    state.add(tf.constant(np.random.rand(8, WIDTH).astype(np.float32)))
    state.nearest(tf.constant(np.random.rand(WIDTH).astype(np.float32)))
    time.sleep(0.003)  # waits for input
