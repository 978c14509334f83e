"""A trainer that builds its input pipeline anew for each file and keeps the pipelines to count them.
LEAK function_library|dataset_iterator|python_objects|retrace
"""

# One step keeps a dataset of three stages with two traced functions, some 100 KB.

from __future__ import annotations

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.pipelines = []
        self.seen = 0

    def pipeline(self, shard):
        x = np.full((8, 4), shard, np.float32)
        dataset = tf.data.Dataset.from_tensor_slices(x).map(lambda row: row / 255.0).batch(4)  # leak
        self.pipelines.append(dataset)  # leak
        return dataset

    def train_on(self, shard):
        for batch in self.pipeline(shard):
            self.seen += int(tf.shape(batch)[0])


def setup():
    return Trainer()


def step(state, i):
    state.train_on(i % 255)
