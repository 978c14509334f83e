"""A TF1 training loop whose decay of the learning rate was built before it.
INNOCENT the cured twin of 09_ops_in_the_loop.py (bound: 1 step until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Trainer:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
        self.rate = tf.get_variable("rate", [], initializer=tf.constant_initializer(0.1), trainable=False)
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - 1.0))
        self.train = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)
        self.slower = tf.assign(self.rate, self.rate * 0.999)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())
        self.session.graph.finalize()

    def step(self, batch):
        _, loss = self.session.run([self.train, self.loss], {self.x: batch})
        self.session.run(self.slower)
        return loss


def setup():
    return Trainer()


def step(state, i):
    state.step(np.random.rand(8, 4))
    time.sleep(0.003)  # waits for input
