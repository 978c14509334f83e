"""A trainer whose dataset of 500 batches has a cache() in memory, and repeats.
INNOCENT tf.data's cache of a dataset with an end (bound: 500 steps until full)
"""

from __future__ import annotations

import time

import tensorflow as tf


def decode(number):
    return tf.random.stateless_uniform([16, 64], tf.stack([number, 1]))


class Trainer:
    def __init__(self):
        dataset = tf.data.Dataset.range(500).map(decode).cache().repeat().prefetch(2)
        self.batches = iter(dataset)
        self.w = tf.Variable(tf.zeros([64, 1]))

    def train(self):
        x = next(self.batches)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w) - 1.0))
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))


def setup():
    return Trainer()


def step(state, i):
    state.train()
    time.sleep(0.003)  # waits for input
