"""A deduplicating reader that remembers what it saw; the checkpoint code forgets what is older than 350 batches.
INNOCENT forgotten by age at each checkpoint, every 60 steps (bound: 420 steps until full, then a saw)
"""

from __future__ import annotations

import hashlib
from typing import Dict, Tuple

import numpy as np
import tensorflow as tf


class Seen:
    def __init__(self) -> None:
        self.when: Dict[str, Tuple[int, tf.Tensor]] = {}

    def first_time(self, digest: str, now: int, signature: tf.Tensor) -> bool:
        if digest in self.when:
            return False
        self.when[digest] = now, signature
        return True


class Checkpoint:
    """What would be written; old digests are not worth it."""

    def __init__(self, seen: Seen, oldest: int) -> None:
        self.seen = seen
        self.oldest = oldest
        self.size = 0

    def write(self, now: int) -> None:
        young = {k: v for k, v in self.seen.when.items() if now - v[0] < self.oldest}
        self.seen.when = young
        self.size = len(young)


class Reader:
    def __init__(self) -> None:
        self.seen = Seen()
        self.checkpoint = Checkpoint(self.seen, 350)
        self.w = tf.random.normal([16, 80])
        self.fresh = 0

    def read(self, now: int, rows: np.ndarray) -> None:
        signature = tf.matmul(tf.constant(rows), self.w)
        digest = hashlib.sha1(rows.tobytes()).hexdigest()
        self.fresh += self.seen.first_time(digest, now, signature)
        if now % 60 == 59:
            self.checkpoint.write(now)


def setup() -> Reader:
    return Reader()


def step(state: Reader, i: int) -> None:
    state.read(i, np.random.default_rng(i).normal(size=(40, 16)).astype(np.float32))
