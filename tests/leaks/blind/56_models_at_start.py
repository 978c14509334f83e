"""A service that loads a model for each of 60 customers at its start, one after the other, and then serves.
INNOCENT models loaded at start (bound: 240 steps until full)
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf


def load_model(customer: int):
    """Stands for keras.models.load_model."""
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")]
    )
    model.build((None, 64))
    return model


class Service:
    def __init__(self, customers: int):
        self.customers = customers
        self.models = {}

    def start(self, customer: int):
        self.models[customer] = load_model(customer)

    def predict(self, customer, x):
        return self.models[customer](x, training=False)


def setup():
    return Service(customers=60)


def step(state, i):
    if i % 4 == 0 and len(state.models) < state.customers:
        state.start(len(state.models))
    state.predict(i % len(state.models), tf.constant(np.random.rand(4, 64).astype(np.float32)))
    time.sleep(0.003)  # waits for input
