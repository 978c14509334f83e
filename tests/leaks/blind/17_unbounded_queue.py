"""A preprocessing thread that puts two batches into a queue without a size for each one that is taken.
LEAK python_objects|live_tensors
TF1
"""

# One step leaves one array of 4 KB in the queue.

from __future__ import annotations

import queue
import threading
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Preprocessor:
    def __init__(self):
        self.wanted = queue.Queue()
        self.ready = queue.Queue()
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def loop(self):
        while True:
            seed = self.wanted.get()
            image = np.full((32, 32), seed % 256, np.float32)  # leak, made here
            self.ready.put((seed, image))  # leak
            self.ready.put((seed, image[::-1].copy()))  # leak

    def next(self, i):
        self.wanted.put(i)
        return self.ready.get()


def setup():
    return Preprocessor()


def step(state, i):
    _, image = state.next(i)
    float(tf.reduce_mean(tf.matmul(tf.constant(image), tf.constant(image))))
    time.sleep(0.003)  # waits for input
