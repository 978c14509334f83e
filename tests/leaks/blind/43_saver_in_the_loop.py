"""A TF1 trainer that makes a Saver each time it writes a checkpoint.
LEAK graph_growth
TF1
"""

# A Saver every 10 steps adds some ten operations to the graph.

from __future__ import annotations

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Trainer:
    def __init__(self):
        self.folder = tempfile.mkdtemp("checkpoints")
        self.x = tf.placeholder(tf.float32, [None, 16])
        with tf.variable_scope("net", use_resource=True):
            w = tf.get_variable("w", [16, 1])
            b = tf.get_variable("b", [1])
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w) + b - 1.0))
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())

    def save(self):
        saver = tf.train.Saver(max_to_keep=1)  # leak
        saver.save(self.session, os.path.join(self.folder, "model"), write_meta_graph=False)

    def batch(self):
        return self.session.run([self.train, self.loss], {self.x: np.random.rand(32, 16)})[1]


def setup():
    return Trainer()


def step(state, i):
    state.batch()
    if i % 10 == 9:
        state.save()
