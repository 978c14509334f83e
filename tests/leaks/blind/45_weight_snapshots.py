"""A trainer that averages its weights at the end (SWA) and keeps a copy of them after each batch for it.
LEAK python_objects
TF1
"""

# One step keeps two arrays, 5 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Swa:
    def __init__(self, variables):
        self.variables = variables
        self.copies = []

    def remember(self):
        self.copies.append([v.numpy() for v in self.variables])  # leak

    def average(self):
        return [np.mean(column, axis=0) for column in zip(*self.copies[-20:])]


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(36, 32).astype(np.float32))
        self.b = tf.Variable(np.zeros(32, np.float32))
        self.swa = Swa([self.w, self.b])

    def batch(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w) + self.b - 1.0))
        for v, g in zip([self.w, self.b], tape.gradient(loss, [self.w, self.b])):
            v.assign_sub(0.001 * g)
        self.swa.remember()


def setup():
    return Trainer()


def step(state, i):
    state.batch(tf.constant(np.random.rand(8, 36).astype(np.float32)))
    if i % 100 == 99:
        state.swa.average()
    time.sleep(0.001)  # the rest of the work
