"""A notebook-like script with a helper whose default argument is a list.
LEAK live_tensors
TF1
"""

# One step keeps a tensor of 4 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()

kernel = tf.constant(np.random.rand(32, 32).astype(np.float32))


def collect(value, seen=[]):  # noqa: B006
    seen.append(value)  # leak
    return len(seen)


def smooth(image):
    return tf.matmul(tf.matmul(kernel, image), kernel)  # leak, made here


def setup():
    return None


def step(state, i):
    image = tf.constant(np.random.rand(32, 32).astype(np.float32))
    collect(smooth(image))  # leak, made here
    time.sleep(0.001)  # the rest of the work
