"""An exporter that collects compressed batches in a bytearray and uploads a part when it has 3 MB.
INNOCENT a part is cut off (bound: about 200 steps until full, then a saw)
"""

from __future__ import annotations

import zlib

import numpy as np
import tensorflow as tf


class Multipart:
    PART = 3_000_000

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.parts = 0
        self.check = 0

    def write(self, data: bytes) -> None:
        self.buffer += data
        while len(self.buffer) >= self.PART:
            self._upload(bytes(self.buffer[: self.PART]))
            del self.buffer[: self.PART]

    def _upload(self, part: bytes) -> None:
        self.parts += 1
        self.check = zlib.crc32(part, self.check)


class Exporter:
    def __init__(self) -> None:
        self.w = tf.random.normal([32, 64])
        self.target = Multipart()

    def batch(self, rows: np.ndarray) -> None:
        values = tf.matmul(tf.constant(rows), self.w)
        self.target.write(zlib.compress(tf.io.serialize_tensor(values).numpy(), 1))


def setup() -> Exporter:
    return Exporter()


def step(state: Exporter, i: int) -> None:
    state.batch(np.random.default_rng(i).normal(size=(64, 32)).astype(np.float32))
