"""A trainer that opens a pipeline for each file, with a numpy_function that subtracts the mean image of the file.
LEAK python_objects|function_library
"""

# A file every 4 steps. Its pipeline is dropped; TensorFlow keeps the function with the outermost graph (24 KB).
from __future__ import annotations

import numpy as np
import tensorflow as tf


class ImageFile:
    def __init__(self, number: int) -> None:
        self.images = np.random.default_rng(number).random((8, 48, 64)).astype(np.float64)

    def mean(self) -> np.ndarray:
        return self.images.mean(axis=0)


class Centred:
    """Subtracts a mean image; a callable for tf.data."""

    def __init__(self, mean: np.ndarray) -> None:
        self.mean = mean

    def __call__(self, image: np.ndarray) -> np.ndarray:
        return (image - self.mean).astype(np.float32)


def pipeline(file: ImageFile) -> tf.data.Dataset:
    centred = Centred(file.mean())  # leak, made here
    images = tf.data.Dataset.from_tensor_slices(file.images)
    return images.map(lambda image: tf.numpy_function(centred, [image], tf.float32)).batch(2)  # leak


class Trainer:
    def __init__(self) -> None:
        self.sum = 0.0
        self.files = 0
        self.batches = iter(())

    def fit(self) -> None:
        batch = next(self.batches, None)
        if batch is None:
            self.batches = iter(pipeline(ImageFile(self.files)))
            self.files += 1
            batch = next(self.batches)
        self.sum += float(tf.reduce_mean(batch))


def setup() -> Trainer:
    return Trainer()


def step(state: Trainer, i: int) -> None:
    state.fit()
