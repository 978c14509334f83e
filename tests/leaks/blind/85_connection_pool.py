"""A client of a feature store with a pool of 40 connections, which grows when the peak needs one more.
INNOCENT a pool with a size (bound: about 800 steps until full)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Connection:
    def __init__(self, number):
        self.number = number
        self.sent = 0
        self.buffer = bytearray(16384)

    def fetch(self, key):
        self.sent += 1
        self.buffer[key % 16384] = key % 256
        return np.frombuffer(self.buffer, np.uint8, 64).astype(np.float32)


class Pool:
    def __init__(self, size):
        self.size = size
        self.idle = []
        self.all = []

    def take(self):
        if self.idle:
            return self.idle.pop()
        if len(self.all) < self.size:
            self.all.append(Connection(len(self.all)))
            return self.all[-1]
        return None

    def give(self, connection):
        self.idle.append(connection)


class Client:
    def __init__(self):
        self.pool = Pool(40)

    def many(self, keys):
        taken = [c for c in (self.pool.take() for _ in keys) if c is not None]
        try:
            return float(tf.reduce_sum(tf.add_n([tf.constant(c.fetch(k)) for c, k in zip(taken, keys)])))
        finally:
            for connection in taken:
                self.pool.give(connection)


def setup():
    return Client()


def step(state, i):
    state.many(range(i, i + 1 + min(i, 1200) // 20 * (i % 5 == 0)))
    time.sleep(0.002)  # until the next one comes
