"""A dispatcher whose open orders rise and fall with the hour: some 30 in the night, 330 at noon, a day has 300 steps.
INNOCENT seasons (bound: 300 steps until full, then up and down)
"""

from __future__ import annotations

import math
import random
from typing import Dict

import numpy as np
import tensorflow as tf


class Orders:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.open: Dict[int, tf.Tensor] = {}
        self.next = 0

    def arrive(self, features: tf.Tensor) -> None:
        self.open[self.next] = features
        self.next += 1

    def deliver(self, n: int) -> None:
        for key in self.random.sample(sorted(self.open), min(n, len(self.open))):
            del self.open[key]


class Dispatcher:
    DAY = 300

    def __init__(self) -> None:
        self.orders = Orders(2)
        self.w = tf.random.normal([12, 64])

    def _wanted(self, step: int) -> int:
        return 180 - int(150 * math.cos(2 * math.pi * step / self.DAY))

    def tick(self, step: int) -> None:
        wanted = self._wanted(step) + self.orders.random.randint(-8, 8)
        for n in range(max(1, wanted + 2 - len(self.orders.open))):
            x = np.random.default_rng(step + n).normal(size=(32, 12))
            self.orders.arrive(tf.nn.relu(tf.matmul(tf.constant(x, tf.float32), self.w)))
        self.orders.deliver(len(self.orders.open) - wanted)


def setup() -> Dispatcher:
    return Dispatcher()


def step(state: Dispatcher, i: int) -> None:
    state.tick(i)
