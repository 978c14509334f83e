"""A SAC agent whose replay buffer is one NumPy array of 64 MB, taken at the start and touched page after page.
INNOCENT memory that was asked for before (bound: 1000 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Replay:
    def __init__(self, capacity, width):
        self.observations = np.zeros((capacity, width), np.float32)
        self.rewards = np.zeros(capacity, np.float32)
        self.size = 0
        self.next = 0

    def add(self, observation, reward):
        self.observations[self.next] = observation
        self.rewards[self.next] = reward
        self.next = (self.next + 1) % len(self.rewards)
        self.size = min(self.size + 1, len(self.rewards))

    def sample(self, n):
        at = np.random.randint(0, self.size, n)
        return self.observations[at], self.rewards[at]


class Agent:
    def __init__(self):
        self.replay = Replay(1000, 16000)
        self.w = tf.Variable(np.zeros((16000, 1), np.float32))

    def observe(self):
        self.replay.add(np.random.rand(16000), np.random.rand())

    def learn(self):
        x, r = self.replay.sample(4)
        error = tf.matmul(tf.constant(x), self.w)[:, 0] - tf.constant(r)
        self.w.assign_sub(1e-5 * tf.linalg.matvec(x, error, transpose_a=True)[:, None])


def setup():
    return Agent()


def step(state, i):
    state.observe()
    state.learn()
    time.sleep(0.001)  # the rest of the work
