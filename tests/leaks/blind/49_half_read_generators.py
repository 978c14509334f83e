"""An episode player that reads the first batch of each generator and keeps the generators «to go on later».
LEAK python_objects|live_tensors
TF1
"""

# One step keeps a generator whose frame holds an array of 8 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


def batches(episode):
    frames = np.random.RandomState(episode).rand(20, 100).astype(np.float32)
    for first in range(0, 20, 4):
        yield tf.constant(frames[first : first + 4])


class Player:
    def __init__(self):
        self.running = {}

    def preview(self, episode):
        generator = batches(episode)  # leak, made here
        self.running[episode] = generator  # leak
        return float(tf.reduce_mean(next(generator)))


def setup():
    return Player()


def step(state, i):
    state.preview(i)
    time.sleep(0.002)  # until the next one comes
