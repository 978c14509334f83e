"""A deduplicating consumer that keeps the digest of each message in a set.
LEAK python_objects
TF1
"""

# One step keeps eight digests of 32 bytes (some 1 KB), none of which the garbage collector knows.

from __future__ import annotations

import hashlib
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Consumer:
    def __init__(self):
        self.seen = set()
        self.total = 0.0

    def fresh(self, message):
        digest = hashlib.sha256(message).digest()  # leak, made here
        if digest in self.seen:
            return False
        self.seen.add(digest)  # leak
        return True

    def consume(self, messages):
        fresh = [m for m in messages if self.fresh(m)]
        if fresh:
            rows = np.stack([np.frombuffer(m, np.uint8) for m in fresh]).astype(np.float32)
            self.total += float(tf.reduce_mean(tf.constant(rows)))


def setup():
    return Consumer()


def step(state, i):
    state.consume([b"message %012d of the stream" % (8 * i + k) for k in range(8)])
    time.sleep(0.003)  # waits for input
