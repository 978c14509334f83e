"""A preprocessing thread that fills a queue of 400 batches, faster than they are taken.
INNOCENT the cured twin of 17_unbounded_queue.py: maxsize (bound: 400 steps until full)
TF1
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Preprocessor:
    def __init__(self):
        self.wanted = queue.Queue()
        self.ready = queue.Queue(maxsize=400)
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def offer(self, item):
        with contextlib.suppress(queue.Full):  # one batch less of this augmentation
            self.ready.put_nowait(item)

    def loop(self):
        while True:
            seed = self.wanted.get()
            image = np.full((32, 32), seed % 256, np.float32)
            self.offer((seed, image))
            self.offer((seed, image[::-1].copy()))

    def next(self, i):
        self.wanted.put(i)
        return self.ready.get()


def setup():
    return Preprocessor()


def step(state, i):
    _, image = state.next(i)
    float(tf.reduce_mean(tf.matmul(tf.constant(image), tf.constant(image))))
    time.sleep(0.003)  # waits for input
