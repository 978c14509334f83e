"""A trainer that writes a checkpoint every 50 steps, keeps three, and the best twelve sets of weights in memory.
INNOCENT rotation (bound: 600 steps until full)
"""

from __future__ import annotations

import tempfile
import time

import numpy as np
import tensorflow as tf


class Best:
    def __init__(self, most):
        self.most = most
        self.sets = []

    def offer(self, loss, weights):
        self.sets.append((loss, weights))
        self.sets.sort(key=lambda pair: pair[0])
        if len(self.sets) > self.most:
            self.sets.pop()


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 64).astype(np.float32))
        self.steps = tf.Variable(0)
        checkpoint = tf.train.Checkpoint(w=self.w, steps=self.steps)
        self.manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp("checkpoints"), max_to_keep=3)
        self.best = Best(12)

    def train(self, i):
        x = tf.constant(np.random.rand(16, 64).astype(np.float32))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w)))
        self.w.assign_sub(0.0001 * tape.gradient(loss, self.w))
        self.steps.assign_add(1)
        if i % 50 == 49:
            self.manager.save(checkpoint_number=i)
            self.best.offer(float(loss), self.w.numpy())


def setup():
    return Trainer()


def step(state, i):
    state.train(i)
    time.sleep(0.002)  # until the next one comes
