"""An evaluation job that counts pairs of classes, 40 × 40, with an example of each pair.
INNOCENT pairs are finite (bound: about 2000 steps until full; 90 % after 900)
TF1
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
CLASSES = 40


class Confusion:
    def __init__(self):
        self.counts = Counter()
        self.examples = {}

    def add(self, label, predicted, sample):
        self.counts[label, predicted] += 1
        self.examples.setdefault((label, predicted), sample)


def setup():
    return Confusion(), tf.constant(np.random.rand(32, CLASSES).astype(np.float32))


def step(state, i):
    confusion, w = state
    x = np.random.normal(size=(4, 32)).astype(np.float32)
    predicted = tf.argmax(tf.random.normal([4, CLASSES]) + 0.01 * tf.matmul(tf.constant(x), w), axis=1).numpy()
    for row, label, guess in zip(x, np.random.randint(0, CLASSES, 4), predicted):
        confusion.add(int(label), int(guess), row.copy())
    time.sleep(0.001)  # the rest of the work
