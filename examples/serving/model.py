"""What the servers serve: a small network, with a leak in it if LEAK=1."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf


class Scorer:
    """Scores requests; LEAK=1 in the environment gives it the leak that such servers often have."""

    def __init__(self):
        self.weights = tf.Variable(tf.random.stateless_normal((16, 4), seed=(1, 2)))
        self.is_leaky = os.environ.get("LEAK") == "1"

    @tf.function
    def _score(self, features, boost):
        return tf.nn.softmax(tf.matmul(features, self.weights) * boost)

    def __call__(self, number):
        boost = 1.0 + number / 1000
        if not self.is_leaky:
            # Tensors share a trace; each Python number has one of its own, and tf.constant() of it is kept for ever.
            boost = tf.constant(np.float32(boost))
        return self._score(tf.ones((1, 16)), boost).numpy()[0].tolist()
