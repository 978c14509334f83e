"""A hyperparameter search whose list of results has the model in each of its trials.
LEAK model_rebuild|variable|python_objects
"""

# A trial every 5 steps keeps a Keras model of three layers.
from __future__ import annotations

import random
from typing import List

import keras
import numpy as np
import tensorflow as tf


class Trial:
    def __init__(self, units: int, rate: float) -> None:
        self.units = units
        self.rate = rate
        self.losses: List[float] = []
        self.model = keras.Sequential(  # leak, made here
            [
                keras.layers.Input([12]),
                keras.layers.Dense(units, activation="relu"),
                keras.layers.Dense(units, activation="relu"),
                keras.layers.Dense(1),
            ]
        )

    def train(self, x, y) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        variables = self.model.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign(variable - self.rate * gradient)
        self.losses.append(float(loss))

    def score(self) -> float:
        return self.losses[-1]


class RandomSearch:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.results: List[Trial] = []
        self.current = self._next()

    def _next(self) -> Trial:
        return Trial(self.random.choice([16, 24, 32, 48]), 10 ** self.random.uniform(-3, -1))

    def advance(self, x, y) -> None:
        self.current.train(x, y)
        if len(self.current.losses) == 5:
            self.results.append(self.current)  # leak
            self.current = self._next()

    def best(self) -> Trial:
        return min(self.results, key=Trial.score)


def setup() -> RandomSearch:
    return RandomSearch(5)


def step(state: RandomSearch, i: int) -> None:
    x = np.random.default_rng(i).normal(size=(16, 12)).astype(np.float32)
    state.advance(tf.constant(x), tf.constant(x[:, :1]))
