"""A gateway that takes its buffers from a pool; up to 64 are out at once, and the pool only grows when it has none.
INNOCENT the most that were ever out (bound: about 500 steps until full)
"""

from __future__ import annotations

import random
from typing import List

import numpy as np
import tensorflow as tf


class BufferPool:
    def __init__(self, size: int) -> None:
        self.size = size
        self.idle: List[np.ndarray] = []

    def take(self) -> np.ndarray:
        return self.idle.pop() if self.idle else np.ones(self.size, np.float32)

    def give(self, buffer: np.ndarray) -> None:
        self.idle.append(buffer)


class Gateway:
    def __init__(self) -> None:
        self.pool = BufferPool(16 * 1024)
        self.out: List[np.ndarray] = []
        self.random = random.Random(3)
        self.peak = 4.0

    def tick(self) -> float:
        self.peak = min(64.0, self.peak * 1.008)
        wanted = self.random.randint(0, int(self.peak))
        while len(self.out) < wanted:
            self.out.append(self.pool.take())
        while len(self.out) > wanted:
            self.pool.give(self.out.pop(0))
        return float(tf.reduce_mean(tf.constant(self.out[-1]))) if self.out else 0.0


def setup() -> Gateway:
    return Gateway()


def step(state: Gateway, i: int) -> None:
    state.tick()
