"""A transformer block whose heads leave their maps in a dict of the class, «for the visualisation».
LEAK live_tensors|python_objects
"""

# One step keeps two maps of 16 KB.
from __future__ import annotations

from typing import Dict, Tuple

import numpy as np
import tensorflow as tf


class AttentionHead:
    maps: Dict[Tuple[str, int], tf.Tensor] = {}  # noqa: RUF012 -- the leak

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.query = tf.random.normal([size, 16])
        self.key = tf.random.normal([size, 16])
        self.calls = 0

    def __call__(self, tokens: tf.Tensor) -> tf.Tensor:
        scores = tf.matmul(tf.matmul(tokens, self.query), tf.matmul(tokens, self.key), transpose_b=True)
        weights = tf.nn.softmax(scores / 4.0)  # leak, made here
        self.calls += 1
        self.maps[self.name, self.calls] = weights  # leak
        return tf.matmul(weights, tokens)


class Block:
    def __init__(self, size: int) -> None:
        self.heads = [AttentionHead("near", size), AttentionHead("far", size)]

    def __call__(self, tokens: tf.Tensor) -> tf.Tensor:
        return tf.add_n([head(tokens) for head in self.heads]) / float(len(self.heads))


class Encoder:
    def __init__(self) -> None:
        self.block = Block(32)

    def encode(self, tokens: np.ndarray) -> np.ndarray:
        return tf.reduce_mean(self.block(tf.constant(tokens)), axis=0).numpy()


def setup() -> Encoder:
    return Encoder()


def step(state: Encoder, i: int) -> None:
    state.encode(np.random.default_rng(i).normal(size=(64, 32)).astype(np.float32))
