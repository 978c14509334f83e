"""A TF1 training loop that builds the operation of its learning rate's decay inside the loop.
LEAK graph_growth
TF1
"""

# One step adds three operations to the graph, and the session copies the graph's end anew.

from __future__ import annotations

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
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())

    def decay(self):
        self.session.run(tf.assign(self.rate, self.rate * 0.999))  # leak

    def step(self, batch):
        _, loss = self.session.run([self.train, self.loss], {self.x: batch})
        self.decay()
        return loss


def setup():
    return Trainer()


def step(state, i):
    state.step(np.random.rand(8, 4))
