"""An augmentation step that wraps a new Python function for each image, in a TF1 graph.
LEAK graph_growth|python_objects
TF1
"""

# One step keeps an operation, the function and its closure's array of 4 KB, all in the graph.

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Augmenter:
    def __init__(self):
        self.image = tf.placeholder(tf.float32, [32, 32])
        self.session = tf.Session()

    def augment(self, image, noise):
        def add_noise(pixels):
            return pixels + noise

        noisy = tf.py_func(add_noise, [self.image], tf.float32)  # leak
        return self.session.run(noisy, {self.image: image})


def setup():
    return Augmenter()


def step(state, i):
    noise = np.random.rand(32, 32).astype(np.float32)
    state.augment(np.zeros((32, 32), np.float32), noise)
