"""An RL agent whose recurrent states are chained to the ones before, so that no episode's state is ever freed.
LEAK live_tensors|python_objects
TF1
"""

# One step keeps one node and a tensor of 512 bytes.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Memory:
    """The agent's state after a step; `before` is for drawing the way in a debugger."""

    def __init__(self, hidden, before):
        self.hidden = hidden
        self.before = before


class Agent:
    def __init__(self):
        self.w = tf.constant(np.random.rand(128, 128).astype(np.float32) / 64)
        self.memory = Memory(tf.zeros([1, 128]), None)

    def act(self, observation):
        hidden = tf.tanh(tf.matmul(self.memory.hidden, self.w) + observation)  # leak, made here
        self.memory = Memory(hidden, self.memory)  # leak
        return int(tf.argmax(hidden, axis=1)[0])


def setup():
    return Agent()


def step(state, i):
    state.act(tf.constant(np.random.rand(1, 128).astype(np.float32)))
    time.sleep(0.001)  # the rest of the work
