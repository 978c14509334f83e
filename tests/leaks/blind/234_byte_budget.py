"""A cache of encoded documents of very different lengths, which is shrunk by the code that answers, to 6 MB.
INNOCENT bytes are counted, and another function shrinks (bound: about 350 steps until full)
"""

from __future__ import annotations

import collections
import random

import numpy as np
import tensorflow as tf


class Budget:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    @property
    def over(self) -> bool:
        return self.used > self.limit


class Documents:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.encoded: collections.OrderedDict[int, np.ndarray] = collections.OrderedDict()
        self.w = tf.random.normal([8, 32])

    def encode(self, number: int, words: int) -> np.ndarray:
        if number not in self.encoded:
            rows = np.random.default_rng(number).normal(size=(words, 8)).astype(np.float32)
            self.encoded[number] = tf.tanh(tf.matmul(tf.constant(rows), self.w)).numpy()
            self.budget.used += self.encoded[number].nbytes
        return self.encoded[number]


def answer(documents: Documents, number: int, words: int) -> float:
    value = float(documents.encode(number, words).mean())
    shrink(documents)
    return value


def shrink(documents: Documents) -> None:
    while documents.budget.over:
        _, array = documents.encoded.popitem(last=False)
        documents.budget.used -= array.nbytes


def setup():
    return Documents(Budget(6_000_000)), random.Random(8)


def step(state, i: int) -> None:
    documents, chance = state
    answer(documents, i, int(chance.lognormvariate(4.6, 0.8)) + 1)
