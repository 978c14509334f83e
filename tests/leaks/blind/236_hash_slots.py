"""A deduplicator that keeps the last sketch of each slot, and the slot is a hash modulo 251.
INNOCENT the key is modulo (bound: about 1300 steps until full; 90 % after 580)
"""

from __future__ import annotations

import zlib
from typing import Dict

import numpy as np
import tensorflow as tf


class Sketcher:
    def __init__(self, seed: int) -> None:
        self.planes = tf.constant(np.random.default_rng(seed).normal(size=(32, 256)), tf.float32)

    def __call__(self, rows: np.ndarray) -> tf.Tensor:
        return tf.sign(tf.matmul(tf.constant(rows), self.planes))


class Duplicates:
    SLOTS = 251

    def __init__(self) -> None:
        self.sketch = Sketcher(3)
        self.last: Dict[int, tf.Tensor] = {}
        self.found = 0

    def _slot(self, name: str) -> int:
        return zlib.crc32(name.encode()) % self.SLOTS

    def offer(self, name: str, rows: np.ndarray) -> None:
        sketch = self.sketch(rows)
        slot = self._slot(name)
        before = self.last.get(slot)
        if before is not None and float(tf.reduce_mean(before * sketch)) > 0.9:
            self.found += 1
        self.last[slot] = sketch


def setup() -> Duplicates:
    return Duplicates()


def step(state: Duplicates, i: int) -> None:
    state.offer("document/%d.html" % i, np.random.default_rng(i).normal(size=(16, 32)).astype(np.float32))
