"""A hyperparameter search that opens a summary writer for each trial and never closes one.
LEAK python_objects|native_heap|live_tensors|cache
"""

# A trial every 2 steps keeps a writer with its unwritten events.

from __future__ import annotations

import os
import shutil
import tempfile
import time

import tensorflow as tf


class Search:
    def __init__(self):
        self.folder = tempfile.mkdtemp("search")
        self.writers = {}

    def trial(self, number):
        name = "trial-%05d" % number
        if name not in self.writers:
            self.writers[name] = tf.summary.create_file_writer(os.path.join(self.folder, name))  # leak
        return self.writers[name]

    def log(self, number, step, loss):
        with self.trial(number).as_default():
            tf.summary.write("loss", loss, step=step)

    def tidy(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)


def setup():
    return Search()


def step(state, i):
    state.log(i // 2, i % 2, 1.0 / (1 + i % 10))
    if i % 1000 == 999:
        state.tidy()
    time.sleep(0.001)  # the rest of the work
