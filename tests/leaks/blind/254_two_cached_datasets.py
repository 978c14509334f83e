"""A trainer that zips two datasets of 180 and 260 batches, both with a cache() after the slow part.
INNOCENT two first epochs (bound: 260 steps until full)
"""

from __future__ import annotations

import tensorflow as tf


def images(n: int) -> tf.data.Dataset:
    numbers = tf.data.Dataset.range(n)
    return numbers.map(lambda k: tf.random.stateless_uniform([64, 64], [k, 1])).cache().repeat()


def captions(n: int) -> tf.data.Dataset:
    numbers = tf.data.Dataset.range(n)
    return numbers.map(lambda k: tf.random.stateless_normal([40, 32], [k, 2])).cache().repeat()


class Reader:
    def __init__(self) -> None:
        self.pairs = iter(tf.data.Dataset.zip((images(180), captions(260))))

    def __next__(self):
        return next(self.pairs)


class Trainer:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.w = tf.Variable(tf.random.normal([64, 32], stddev=0.1))

    def fit(self) -> None:
        image, caption = next(self.reader)
        similarity = tf.matmul(tf.matmul(image, self.w), caption, transpose_b=True)
        self.w.assign(self.w * (1.0 - 1e-5 * tf.reduce_mean(similarity)))


def setup() -> Trainer:
    return Trainer(Reader())


def step(state: Trainer, i: int) -> None:
    state.fit()
