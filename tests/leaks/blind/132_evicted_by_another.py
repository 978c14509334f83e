"""A cache without a limit of its own; a memory manager asks all caches for their size, and empties what is too big.
INNOCENT another class evicts (bound: 700 steps until full, then a saw)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Cache:
    def __init__(self):
        self.values = {}

    def get(self, key, make):
        if key not in self.values:
            self.values[key] = make(key)
        return self.values[key]

    def nbytes(self):
        return sum(v.nbytes for v in self.values.values())

    def shrink(self):
        for key in sorted(self.values)[: len(self.values) // 2]:
            self.values.pop(key)


class MemoryManager:
    def __init__(self, limit):
        self.limit = limit
        self.caches = []

    def check(self):
        for cache in self.caches:
            if cache.nbytes() > self.limit:
                cache.shrink()


class Service:
    def __init__(self):
        self.cache = Cache()
        self.manager = MemoryManager(limit=650 * 1600)
        self.manager.caches.append(self.cache)

    def handle(self, i):
        row = self.cache.get(i, lambda key: np.random.RandomState(key).rand(200))
        if i % 100 == 99:
            self.manager.check()
        return float(tf.reduce_sum(tf.constant(row)))


def setup():
    return Service()


def step(state, i):
    state.handle(i)
    time.sleep(0.001)
