"""An actor-learner pair with a TensorFlow queue of 300, which the actor fills before both go on at one pace.
INNOCENT the cured twin of 35_tf_queue_fills.py: a capacity (bound: 300 steps until full)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


class Learner:
    def __init__(self):
        self.capacity = 300
        self.queue = tf.queue.FIFOQueue(capacity=self.capacity, dtypes=[tf.float32], shapes=[[1000]])

    def act(self):
        for _ in range(4):
            if int(self.queue.size()) < self.capacity:
                self.queue.enqueue(tf.constant(np.random.rand(1000).astype(np.float32)))

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
