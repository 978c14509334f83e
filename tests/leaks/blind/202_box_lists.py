"""A detector's post-processing that takes the boxes of a batch as a list of tensors, one for each image.
LEAK retrace
"""

# Two images with 1 to 200 boxes each: hardly a combination of shapes comes twice.
from __future__ import annotations

from typing import List

import numpy as np
import tensorflow as tf


@tf.function(autograph=False)
def coverage(boxes: List[tf.Tensor]) -> tf.Tensor:  # leak, made here
    """The part of each image that its boxes cover at most."""
    areas = []
    for box in boxes:
        areas.append(tf.reduce_sum(tf.reduce_prod(box, axis=1)))
    return tf.stack(areas)


class Detector:
    """Stands for a network; gives [n, 2], height and width, for each image."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def __call__(self, images: tf.Tensor) -> List[tf.Tensor]:
        found = self.random.integers(1, 201, size=images.shape[0])
        return [tf.constant(self.random.random((n, 2)), tf.float32) for n in found]


class Evaluator:
    def __init__(self, detector: Detector) -> None:
        self.detector = detector
        self.total = 0.0

    def add(self, images: tf.Tensor) -> None:
        boxes = self.detector(images)
        self.total += float(tf.reduce_sum(coverage(boxes)))  # leak


def setup() -> Evaluator:
    return Evaluator(Detector(7))


def step(state: Evaluator, i: int) -> None:
    state.add(tf.zeros([2, 64, 64, 1]))
