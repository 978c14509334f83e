"""An RPC recorder that appends each message to one BytesIO.
LEAK native_heap|python_objects
TF1
"""

# One step makes the buffer 4 KB longer; it is always one object.

from __future__ import annotations

import io
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Recorder:
    def __init__(self):
        self.tape = io.BytesIO()

    def record(self, message):
        self.tape.write(len(message).to_bytes(4, "little"))
        self.tape.write(message)  # leak


def setup():
    return Recorder()


def step(state, i):
    out = tf.nn.softmax(tf.constant(np.random.rand(1, 1000).astype(np.float32)))
    state.record(out.numpy().tobytes())
    time.sleep(0.001)
