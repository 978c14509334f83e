"""A ranker made for each request, with lru_cache(None) on a method, which keeps the request's ranker.
LEAK python_objects|live_tensors
"""

# One step keeps a ranker with its candidates (16 KB) and the answers for three bands.
from __future__ import annotations

import functools

import numpy as np
import tensorflow as tf


class RequestRanker:
    def __init__(self, candidates: np.ndarray) -> None:
        self.candidates = tf.constant(candidates)  # leak, made here

    @functools.lru_cache(maxsize=None)  # noqa: B019  # leak
    def mean_of_band(self, low: int, high: int) -> float:  # leak
        return float(tf.reduce_mean(self.candidates[:, low:high]))

    def spread(self) -> float:
        bands = [(0, 16), (16, 48), (48, 64)]
        means = [self.mean_of_band(low, high) for low, high in bands]  # leak
        again = [self.mean_of_band(low, high) for low, high in bands]
        return max(means) - min(again)


class RankingService:
    def __init__(self) -> None:
        self.spreads = [0.0] * 8

    def handle(self, i: int, candidates: np.ndarray) -> None:
        ranker = RequestRanker(candidates)  # leak, made here
        self.spreads[i % 8] = ranker.spread()


def setup() -> RankingService:
    return RankingService()


def step(state: RankingService, i: int) -> None:
    state.handle(i, np.random.default_rng(i).normal(size=(64, 64)).astype(np.float32))
