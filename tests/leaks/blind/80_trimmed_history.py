"""A trainer that cuts its history in half when it has 800 entries.
INNOCENT a saw of 400 to 800 dicts (bound: 800 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class History:
    def __init__(self, most):
        self.most = most
        self.logs = []

    def on_batch_end(self, batch, logs):
        self.logs.append(dict(logs, batch=batch, at=time.time()))
        if len(self.logs) >= self.most:
            del self.logs[: self.most // 2]


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 1).astype(np.float32))
        self.history = History(800)

    def run(self, i):
        x = tf.constant(np.random.rand(64, 64).astype(np.float32))
        with tf.GradientTape() as tape:
            out = tf.matmul(x, self.w)
            loss = tf.reduce_mean(tf.square(out))
        gradient = tape.gradient(loss, self.w)
        self.w.assign_sub(0.001 * gradient)
        self.history.on_batch_end(i, {"loss": loss, "norm": float(tf.norm(gradient)), "out": out.numpy()})


def setup():
    return Trainer()


def step(state, i):
    state.run(i)
    time.sleep(0.003)  # waits for input
