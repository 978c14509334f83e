"""A REINFORCE agent that collects an episode of 100 to 400 steps, learns from it and begins a new one.
INNOCENT an episode ends (bound: 400 steps until full, then a saw of uneven teeth)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Episode:
    def __init__(self):
        self.length = random.randint(100, 400)
        self.observations = []
        self.log_probabilities = []
        self.rewards = []


class Agent:
    def __init__(self):
        self.w = tf.Variable(np.random.rand(64, 4).astype(np.float32))
        self.episode = Episode()

    def act(self):
        observation = np.random.rand(64).astype(np.float32)
        logits = tf.matmul(tf.constant(observation[None]), self.w)
        log_probabilities = tf.nn.log_softmax(logits)[0]
        action = random.randrange(4)
        self.episode.observations.append(observation)
        self.episode.log_probabilities.append(log_probabilities[action])
        self.episode.rewards.append(random.random())
        if len(self.episode.rewards) == self.episode.length:
            self.learn()

    def learn(self):
        x = np.stack(self.episode.observations)
        returns = np.cumsum(self.episode.rewards[::-1])[::-1].astype(np.float32)
        with tf.GradientTape() as tape:
            out = tf.nn.log_softmax(tf.matmul(tf.constant(x), self.w))
            loss = -tf.reduce_mean(out[:, 0] * tf.constant(returns.copy()))
        self.w.assign_sub(1e-4 * tape.gradient(loss, self.w))
        self.episode = Episode()


def setup():
    return Agent()


def step(state, i):
    state.act()
    time.sleep(0.001)  # the rest of the work
