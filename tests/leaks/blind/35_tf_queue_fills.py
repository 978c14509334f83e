"""An actor-learner pair with a TensorFlow queue: the actor puts four trajectories in, the learner takes three out.
LEAK cache
"""

# One step leaves a trajectory of 4 KB in the queue.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Learner:
    def __init__(self):
        self.queue = tf.queue.FIFOQueue(capacity=10**6, dtypes=[tf.float32], shapes=[[1000]])

    def act(self):
        for _ in range(4):
            self.queue.enqueue(tf.constant(np.random.rand(1000).astype(np.float32)))  # leak

    def learn(self):
        total = 0.0
        for _ in range(3):
            total += float(tf.reduce_mean(self.queue.dequeue()))
        return total


def setup():
    return Learner()


def step(state, i):
    state.act()
    state.learn()
    time.sleep(0.003)  # waits for input
