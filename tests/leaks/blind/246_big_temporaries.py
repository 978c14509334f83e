"""A renderer whose tiles have sizes between 0.1 and 8 MB, and are gone when the pixel's mean is known.
INNOCENT nothing is kept (bound: 30 steps until full; the allocator has its largest early)
"""

from __future__ import annotations

import random

import numpy as np
import tensorflow as tf


class Tile:
    def __init__(self, height: int, width: int) -> None:
        self.pixels = tf.random.uniform([height, width])

    def blurred(self) -> tf.Tensor:
        return (self.pixels + tf.roll(self.pixels, 1, 0) + tf.roll(self.pixels, 1, 1)) / 3.0


class Renderer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.mean = 0.5

    def _size(self) -> int:
        return int(2 ** self.random.uniform(7.3, 10.5))

    def tile(self) -> None:
        tile = Tile(self._size(), self._size())
        table = np.asarray(tile.blurred())
        rows = [row.copy() for row in table[:: self.random.randint(1, 4)]]
        self.mean = 0.9 * self.mean + 0.1 * float(np.mean([row[0] for row in rows]))


def setup() -> Renderer:
    return Renderer(12)


def step(state: Renderer, i: int) -> None:
    state.tile()
