"""A streaming service whose sessions ask to be closed by a finalizer, which itself keeps them alive.
LEAK python_objects
TF1
"""

# One step keeps a session object with an array of 4 KB.

from __future__ import annotations

import time
import weakref

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class StreamSession:
    def __init__(self, number):
        self.number = number
        self.window = np.zeros(1000, np.float32)  # leak, made here
        self.is_open = True
        weakref.finalize(self, self.close)  # leak

    def feed(self, samples):
        self.window[: len(samples)] = samples
        return float(tf.reduce_mean(tf.abs(tf.signal.rfft(tf.constant(self.window[:512])))))

    def close(self):
        self.is_open = False


def setup():
    return None


def step(state, i):
    session = StreamSession(i)  # leak, made here
    session.feed(np.random.rand(512).astype(np.float32))
    time.sleep(0.003)  # waits for input
