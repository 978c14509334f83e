"""A trainer that opens its generator's dataset anew for each epoch of 40 batches, the iterator of before dropped.
INNOCENT one iterator at a time (bound: 40 steps until full)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


def rows():
    for _ in range(40):
        yield np.random.rand(8, 16).astype(np.float32)


class Trainer:
    def __init__(self):
        self.dataset = tf.data.Dataset.from_generator(rows, output_types=tf.float32, output_shapes=[8, 16])
        self.batches = iter(self.dataset)
        self.epoch = []

    def next(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.batches = iter(self.dataset)
            self.epoch = []
            return next(self.batches)

    def train(self):
        x = self.next()
        self.epoch.append(tf.reduce_mean(x))


def setup():
    return Trainer()


def step(state, i):
    state.train()
    time.sleep(0.001)  # the rest of the work
