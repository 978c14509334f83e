"""A graph of data sources in which each view leaves a weak reference to its source, whose callback keeps its rows.
LEAK python_objects
TF1
"""

# One step keeps a weakref, its callback, and an array of 3.2 KB: the callbacks live until the source goes.

from __future__ import annotations

import time
import weakref

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Source:
    def __init__(self):
        self.table = np.random.rand(1000, 8)


class View:
    orphans = 0

    def __init__(self, source, first, guards):
        rows = source.table[first : first + 50] * 2.0  # leak, made here
        self.rows = rows

        def source_gone(_reference):
            View.orphans += len(rows)

        guards.append(weakref.ref(source, source_gone))  # leak

    def total(self):
        return float(tf.reduce_sum(tf.constant(self.rows)))


class Catalogue:
    def __init__(self):
        self.source = Source()
        self.guards = []

    def view(self, first):
        return View(self.source, first, self.guards)


def setup():
    return Catalogue()


def step(state, i):
    state.view(i % 900).total()
    time.sleep(0.003)  # the rest of the work
