"""A feature service with four worker threads, each of which keeps a trail of its results in a threading.local.
LEAK python_objects
"""

# One step keeps two arrays of 12 KB, spread over four threads.
from __future__ import annotations

import concurrent.futures
import threading

import numpy as np
import tensorflow as tf


class Worker(threading.local):
    """What belongs to one thread."""

    def __init__(self) -> None:
        self.trail = []
        self.scratch = np.zeros((64, 48), np.float32)

    def normalise(self, rows: np.ndarray) -> np.ndarray:
        np.subtract(rows, rows.mean(axis=0), out=self.scratch)
        result = self.scratch / (rows.std(axis=0) + 1e-6)  # leak, made here
        self.trail.append(result)  # leak
        return result


class FeatureService:
    def __init__(self) -> None:
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        self.worker = Worker()
        self.w = tf.random.normal([48, 4])

    def _one(self, rows: np.ndarray) -> np.ndarray:
        return self.worker.normalise(rows)

    def features(self, parts) -> np.ndarray:
        done = list(self.pool.map(self._one, parts))
        return tf.matmul(tf.constant(np.concatenate(done)), self.w).numpy()


def setup() -> FeatureService:
    return FeatureService()


def step(state: FeatureService, i: int) -> None:
    random = np.random.default_rng(i)
    state.features([random.normal(size=(64, 48)).astype(np.float32) for _ in range(2)])
