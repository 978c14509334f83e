"""A quality check for scanned pages, which are put through the compiled filter at their own resolution.
LEAK retrace
"""

# One step keeps a trace, as no two pages are cut alike.
from __future__ import annotations

import numpy as np
import tensorflow as tf


class Sharpness(tf.Module):
    """Variance of the Laplacian, for one page."""

    def __init__(self) -> None:
        super().__init__()
        kernel = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], np.float32)
        self.kernel = tf.constant(kernel[:, :, None, None])

    @tf.function
    def __call__(self, page):  # leak, made here
        edges = tf.nn.conv2d(page[None, :, :, None], self.kernel, 1, "SAME")
        return tf.math.reduce_variance(edges)


class Scanner:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def __iter__(self):
        while True:
            height, width = self.random.integers(60, 400, size=2)
            yield self.random.random((height, width), dtype=np.float32)


class QualityGate:
    def __init__(self) -> None:
        self.pages = iter(Scanner(3))
        self.measure = Sharpness()
        self.passed = 0
        self.failed = 0

    def next_page(self) -> None:
        page = tf.convert_to_tensor(next(self.pages))
        score = self.measure(page)  # leak
        if float(score) > 0.5:
            self.passed += 1
        else:
            self.failed += 1


def setup() -> QualityGate:
    return QualityGate()


def step(state: QualityGate, i: int) -> None:
    state.next_page()
