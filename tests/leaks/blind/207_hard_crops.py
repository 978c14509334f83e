"""An augmenter that cuts every fourth batch at a place of its own, given as a tuple of Python ints.
LEAK retrace
"""

# A trace for each new window; the other batches share the one in the middle.
from __future__ import annotations

import random
from typing import NamedTuple

import tensorflow as tf


class Window(NamedTuple):
    top: int
    left: int
    height: int
    width: int


CENTRE = Window(16, 16, 64, 64)


@tf.function
def crop_and_scale(images, window):  # leak, made here
    cut = images[:, window.top : window.top + window.height, window.left : window.left + window.width]
    return tf.image.resize(cut, [32, 32])


class WindowSampler:
    def __init__(self, seed: int, every: int) -> None:
        self.random = random.Random(seed)
        self.every = every
        self.calls = 0

    def draw(self) -> Window:
        self.calls += 1
        if self.calls % self.every:
            return CENTRE
        height, width = self.random.randint(24, 64), self.random.randint(24, 64)
        return Window(self.random.randint(0, 96 - height), self.random.randint(0, 96 - width), height, width)


class Augmenter:
    def __init__(self) -> None:
        self.sampler = WindowSampler(11, every=4)
        self.images = tf.random.uniform([4, 96, 96, 3])

    def batch(self) -> tf.Tensor:
        flipped = tf.reverse(self.images, axis=[2])
        return crop_and_scale(flipped, self.sampler.draw())  # leak


def setup() -> Augmenter:
    return Augmenter()


def step(state: Augmenter, i: int) -> None:
    tf.reduce_mean(state.batch()).numpy()
