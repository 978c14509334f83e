"""A simulation that writes its states into a TensorArray of 200, saves a film of them and begins a new one.
INNOCENT a new TensorArray for each film (bound: 200 steps until full, then a saw)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

FILM = 200


class Simulation:
    def __init__(self):
        self.position = tf.constant(np.random.rand(100, 3).astype(np.float32))
        self.velocity = tf.constant(np.random.rand(100, 3).astype(np.float32) - 0.5)
        self.begin()

    def begin(self):
        self.trace = tf.TensorArray(tf.float32, size=FILM, clear_after_read=False)

    def advance(self, i):
        self.velocity = self.velocity - 0.01 * self.position
        self.position = self.position + 0.01 * self.velocity
        self.trace = self.trace.write(i % FILM, self.position)
        if i % FILM == FILM - 1:
            self.film = self.trace.stack()
            self.begin()


def setup():
    return Simulation()


def step(state, i):
    state.advance(i)
    time.sleep(0.002)  # until the next one comes
