"""A curriculum that opens a new iterator over its dataset for each task and keeps all of them to resume.
LEAK dataset_iterator
"""

# Each fourth step keeps an iterator (a resource, its four threads and some Python objects; some 200 KB).
# TensorFlow 2.21 takes ever longer to destroy many of them: a process should end by os._exit.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Curriculum:
    def __init__(self):
        x = np.random.rand(256, 32).astype(np.float32)
        self.dataset = tf.data.Dataset.from_tensor_slices(x).batch(16).repeat()
        self.tasks = {}

    def resume(self, task):
        if task not in self.tasks:
            self.tasks[task] = iter(self.dataset)  # leak
        return next(self.tasks[task])


def setup():
    return Curriculum()


def step(state, i):
    batch = state.resume("task-%d" % (i // 4))
    float(tf.reduce_mean(batch))
    time.sleep(0.003)  # waits for input
