"""A reader of shards that registers its close() with atexit, so that no shard is left open.
LEAK python_objects
"""

# One step keeps a shard with 20 KB of rows; atexit holds it where the collector does not look.
from __future__ import annotations

import atexit

import numpy as np
import tensorflow as tf


class Shard:
    def __init__(self, number: int) -> None:
        self.number = number
        self.rows = np.random.default_rng(number).normal(size=(80, 64)).astype(np.float32)  # leak, made here
        self.open = True
        atexit.register(self.close)  # leak

    def close(self) -> None:
        self.open = False

    def __enter__(self) -> Shard:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()


class ShardedSum:
    def __init__(self) -> None:
        self.w = tf.random.normal([64, 8])
        self.total = tf.zeros([8])

    def add(self, number: int) -> None:
        with Shard(number) as shard:
            self.total += tf.reduce_sum(tf.matmul(tf.constant(shard.rows), self.w), axis=0)


def setup() -> ShardedSum:
    return ShardedSum()


def step(state: ShardedSum, i: int) -> None:
    state.add(i)
