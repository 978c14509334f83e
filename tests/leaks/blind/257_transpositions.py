"""A solver with a table of positions of 300 places; a deeper one replaces the one that is there, or one at random.
INNOCENT two candidates for each position, one gives way (bound: about 900 steps until full; 90 % after 600)
"""

from __future__ import annotations

import random
import zlib
from typing import List, Optional, Tuple

import numpy as np
import tensorflow as tf

Entry = Tuple[bytes, int, tf.Tensor]


class Transpositions:
    def __init__(self, places: int, seed: int) -> None:
        self.places: List[Optional[Entry]] = [None] * places
        self.random = random.Random(seed)

    def _candidates(self, key: bytes) -> Tuple[int, int]:
        check = zlib.crc32(key)
        return check % len(self.places), (check >> 12) % len(self.places)

    def find(self, key: bytes) -> Optional[tf.Tensor]:
        for place in self._candidates(key):
            entry = self.places[place]
            if entry is not None and entry[0] == key:
                return entry[2]
        return None

    def store(self, key: bytes, depth: int, value: tf.Tensor) -> None:
        first, second = self._candidates(key)
        entry = self.places[first]
        deeper = entry is None or depth > entry[1]
        self.places[first if deeper else self.random.choice([first, second])] = key, depth, value


class Solver:
    def __init__(self) -> None:
        self.table = Transpositions(300, 1)
        self.w = tf.random.normal([24, 40])

    def visit(self, i: int) -> float:
        board = np.random.default_rng(i % 5000).integers(0, 3, size=(48, 24)).astype(np.float32)
        key = board[0].tobytes() + b"%d" % (i % 5000)
        value = self.table.find(key)
        if value is None:
            value = tf.tanh(tf.matmul(tf.constant(board), self.w))
            self.table.store(key, i % 7, value)
        return float(value[0, 0])


def setup() -> Solver:
    return Solver()


def step(state: Solver, i: int) -> None:
    state.visit(i)
