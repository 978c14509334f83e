"""An RL trainer whose episodes register themselves in a list of their class.
LEAK python_objects
TF1
"""

# An episode of ten steps keeps ten arrays of 1.6 KB.

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Episode:
    everything = []  # noqa: RUF012

    def __init__(self, number):
        self.number = number
        self.observations = []
        self.reward = 0.0
        Episode.everything.append(self)  # leak

    def add(self, observation, reward):
        self.observations.append(observation)
        self.reward += reward


class Runner:
    def __init__(self):
        self.policy = tf.constant(np.random.rand(200, 4).astype(np.float32))
        self.episode = Episode(0)

    def act(self, i):
        if i % 10 == 0:
            self.episode = Episode(i // 10)  # leak, made here
        observation = np.random.rand(200)  # leak, made here
        values = tf.linalg.matmul(tf.constant(observation[None].astype(np.float32)), self.policy)
        self.episode.add(observation, float(tf.reduce_max(values)))


def setup():
    return Runner()


def step(state, i):
    state.act(i)
    time.sleep(0.002)  # until the next one comes
