"""A search tree of an agent, built anew for each move; parents and children refer to each other.
INNOCENT garbage that waits for the collector (bound: some 100 steps until the collector runs)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Node:
    def __init__(self, parent, state):
        self.parent = parent
        self.state = state
        self.children = []
        if parent is not None:
            parent.children.append(self)


class Search:
    def __init__(self):
        self.w = tf.constant(np.random.rand(32, 32).astype(np.float32) / 16)

    def expand(self, node, depth):
        if depth:
            for sign in (1.0, -1.0):
                self.expand(Node(node, tf.tanh(tf.matmul(node.state, self.w) * sign)), depth - 1)

    def move(self):
        root = Node(None, tf.constant(np.random.rand(1, 32).astype(np.float32)))
        self.expand(root, depth=3)
        return max(root.children, key=lambda child: float(tf.reduce_sum(child.state)))


def setup():
    return Search()


def step(state, i):
    state.best = state.move()
    time.sleep(0.001)  # the rest of the work
