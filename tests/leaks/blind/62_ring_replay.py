"""A DQN agent whose replay buffer is a list with a write position that goes round.
INNOCENT the cured twin of 23_replay_without_end.py: a ring of 2000 (bound: 2000 steps until full)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.transitions = []
        self.position = 0

    def remember(self, *transition):
        if len(self.transitions) < self.capacity:
            self.transitions.append(None)
        self.transitions[self.position] = transition
        self.position = (self.position + 1) % self.capacity

    def sample(self, n):
        chosen = random.sample(self.transitions, min(n, len(self.transitions)))
        return [np.stack(column) for column in zip(*chosen)]


class Agent:
    def __init__(self):
        self.q = tf.Variable(np.random.rand(100, 4).astype(np.float32))
        self.replay = Replay(2000)
        self.observation = np.zeros(100, np.float32)

    def act(self):
        values = tf.matmul(tf.constant(self.observation[None]), self.q)
        return int(tf.argmax(values, axis=1)[0])

    def play(self):
        action = self.act()
        following = np.random.rand(100).astype(np.float32)
        self.replay.remember(self.observation, action, random.random(), following)
        self.observation = following

    def learn(self):
        before, actions, rewards, _ = self.replay.sample(16)
        with tf.GradientTape() as tape:
            values = tf.reduce_sum(tf.matmul(before, self.q) * tf.one_hot(actions, 4), axis=1)
            loss = tf.reduce_mean(tf.square(values - tf.constant(rewards, tf.float32)))
        self.q.assign_sub(0.001 * tape.gradient(loss, self.q))


def setup():
    return Agent()


def step(state, i):
    state.play()
    state.learn()
    time.sleep(0.003)  # waits for input
