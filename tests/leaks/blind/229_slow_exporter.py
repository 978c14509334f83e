"""A trainer that exports its predictions in the background; the exporter has one thread and is the slower one.
LEAK live_tensors|python_objects
"""

# Each step submits two jobs of some 25 ms, so that most of them wait, each with a tensor of 8 KB.
from __future__ import annotations

import concurrent.futures
import time

import numpy as np
import tensorflow as tf


class Exporter:
    def __init__(self) -> None:
        self.pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="export")
        self.bytes = 0

    def export(self, name: str, tensor: tf.Tensor) -> None:
        self.pool.submit(self._write, name, tensor)  # leak

    def _write(self, name: str, tensor: tf.Tensor) -> None:
        self.bytes += len(tensor.numpy().tobytes())
        time.sleep(0.025)  # the network


class Trainer:
    def __init__(self, exporter: Exporter) -> None:
        self.exporter = exporter
        self.w = tf.Variable(tf.random.normal([32, 32]))

    def fit(self, i: int, x: np.ndarray) -> None:
        y = tf.matmul(tf.constant(x), self.w)
        self.exporter.export("logits/%d" % i, tf.identity(y))  # leak, made here
        self.exporter.export("probabilities/%d" % i, tf.nn.softmax(y))  # leak, made here
        self.w.assign_sub(0.001 * self.w)


def setup() -> Trainer:
    return Trainer(Exporter())


def step(state: Trainer, i: int) -> None:
    state.fit(i, np.random.default_rng(i).normal(size=(64, 32)).astype(np.float32))
