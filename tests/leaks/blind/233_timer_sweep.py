"""A debounced index whose pending documents are written by a threading.Timer, 0.4 s after the first of them.
INNOCENT a timer takes all that is pending (bound: about 200 steps until full, then a saw)
"""

from __future__ import annotations

import threading
import time
from typing import List, Optional

import numpy as np
import tensorflow as tf


class DebouncedIndex:
    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.lock = threading.Lock()
        self.pending: List[tf.Tensor] = []
        self.timer: Optional[threading.Timer] = None
        self.mean = np.zeros(64, np.float32)

    def add(self, vectors: tf.Tensor) -> None:
        with self.lock:
            self.pending.append(vectors)
            if self.timer is None:
                self.timer = threading.Timer(self.delay, self._write)
                self.timer.daemon = True
                self.timer.start()

    def _write(self) -> None:
        with self.lock:
            rows, self.pending, self.timer = self.pending, [], None
        self.mean = np.concatenate([row.numpy() for row in rows]).mean(axis=0)


class Indexer:
    def __init__(self) -> None:
        self.w = tf.random.normal([16, 64])
        self.index = DebouncedIndex(0.4)

    def document(self, i: int) -> None:
        x = np.random.default_rng(i).normal(size=(48, 16)).astype(np.float32)
        self.index.add(tf.matmul(tf.constant(x), self.w))


def setup() -> Indexer:
    return Indexer()


def step(state: Indexer, i: int) -> None:
    state.document(i)
    time.sleep(0.001)
