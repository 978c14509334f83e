"""A trainer that writes a dict of Python numbers for every batch into its history, and plots nothing of it.
LEAK python_objects
TF1
"""

# One step keeps a dict of six numbers (some 500 bytes).

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class History:
    def __init__(self):
        self.logs = []

    def on_batch_end(self, batch, logs):
        entry = dict(logs)  # leak, made here
        entry["batch"] = batch
        entry["at"] = time.time()
        self.logs.append(entry)  # leak


class Trainer:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 1).astype(np.float32))
        self.history = History()

    def run(self, i):
        x = tf.constant(np.random.rand(64, 64).astype(np.float32))
        with tf.GradientTape() as tape:
            out = tf.matmul(x, self.w)
            loss = tf.reduce_mean(tf.square(out))
        gradient = tape.gradient(loss, self.w)
        self.w.assign_sub(0.001 * gradient)
        self.history.on_batch_end(
            i, {"loss": float(loss), "norm": float(tf.norm(gradient)), "out": float(out[0, 0]), "rate": 0.001 * (i + 1)}
        )


def setup():
    return Trainer()


def step(state, i):
    state.run(i)
    time.sleep(0.002)  # until the next one comes
