"""A mixture of experts that builds each of its 30 experts when it is chosen first, and some are chosen seldom.
INNOCENT experts are finite (bound: about 150 steps until full; 85 % after 50)
"""

from __future__ import annotations

import random
from typing import Dict

import keras
import numpy as np
import tensorflow as tf


class Experts:
    def __init__(self, names) -> None:
        self.names = list(names)
        self.built: Dict[str, keras.layers.Layer] = {}

    def __getitem__(self, name: str) -> keras.layers.Layer:
        if name not in self.names:
            raise KeyError(name)
        return self.built.setdefault(name, None) or self._build(name)

    def _build(self, name: str) -> keras.layers.Layer:
        layer = keras.layers.Dense(96, activation="relu", name=name)
        layer.build([None, 48])
        self.built[name] = layer
        return layer


class Mixture:
    def __init__(self) -> None:
        self.experts = Experts("expert_%d" % n for n in range(30))
        self.weights = [1.0 + (n % 5) for n in range(30)]
        self.random = random.Random(10)

    def forward(self, x: tf.Tensor) -> tf.Tensor:
        chosen = self.random.choices(self.experts.names, self.weights, k=2)
        return tf.add_n([self.experts[name](x) for name in chosen])


def setup() -> Mixture:
    return Mixture()


def step(state: Mixture, i: int) -> None:
    x = tf.constant(np.random.default_rng(i).normal(size=(8, 48)), tf.float32)
    tf.reduce_mean(state.forward(x)).numpy()
