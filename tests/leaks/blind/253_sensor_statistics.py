"""A plant's monitor with running means and covariances for each sensor and phase of the shift, 18 × 24 of them.
INNOCENT phases come again (bound: 432 steps until full)
"""

from __future__ import annotations

from typing import Dict, Tuple

import numpy as np
import tensorflow as tf


class Running:
    """Welford's mean and covariance."""

    def __init__(self, size: int) -> None:
        self.n = 0
        self.mean = np.zeros(size)
        self.moment = np.zeros((size, size))

    def add(self, x: np.ndarray) -> None:
        self.n += 1
        delta = x - self.mean
        self.mean = self.mean + delta / self.n
        self.moment = self.moment + np.outer(delta, x - self.mean)


class Plant:
    def __init__(self) -> None:
        self.known: Dict[Tuple[int, int], Running] = {}
        self.clock = 0

    def statistic(self, sensor: int, phase: int) -> Running:
        return self.known.setdefault((sensor, phase), Running(40))

    def tick(self) -> float:
        sensor, phase = self.clock % 18, self.clock // 18 % 24
        self.clock += 1
        spectrum = tf.abs(tf.signal.rfft(tf.random.normal([78])))
        statistic = self.statistic(sensor, phase)
        statistic.add(spectrum.numpy().astype(np.float64))
        return float(statistic.mean[0])


def setup() -> Plant:
    return Plant()


def step(state: Plant, i: int) -> None:
    state.tick()
