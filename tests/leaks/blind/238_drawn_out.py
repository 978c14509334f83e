"""A drift monitor that adds each batch and then drops some at random, the likelier the more there are.
INNOCENT losses grow with the number, about 300 in balance (bound: about 900 steps until 95 % full; 90 % after 700)
"""

from __future__ import annotations

import random
from typing import List

import numpy as np
import tensorflow as tf


class FadingSample:
    """A sample that prefers what is new."""

    def __init__(self, about: int, seed: int) -> None:
        self.about = about
        self.random = random.Random(seed)
        self.kept: List[np.ndarray] = []

    def add(self, item: np.ndarray) -> None:
        self.kept.append(item)
        if self.random.random() < len(self.kept) / self.about:
            place = self.random.randrange(len(self.kept))
            self.kept[place] = self.kept[-1]
            del self.kept[-1]

    def mean(self) -> float:
        return float(np.mean([item[0, 0] for item in self.kept[-20:] or [np.zeros([1, 1])]]))


class DriftMonitor:
    def __init__(self) -> None:
        self.w = tf.random.normal([32, 48])
        self.sample = FadingSample(300, 9)

    def observe(self, rows: np.ndarray) -> float:
        hidden = tf.tanh(tf.matmul(tf.constant(rows), self.w))
        self.sample.add(hidden.numpy())
        return self.sample.mean()


def setup() -> DriftMonitor:
    return DriftMonitor()


def step(state: DriftMonitor, i: int) -> None:
    state.observe(np.random.default_rng(i).normal(size=(64, 32)).astype(np.float32))
