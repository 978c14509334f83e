"""A trainer with callbacks, one of which keeps the logs of all batches in a deque of the module that has no maxlen.
LEAK live_tensors|python_objects
"""

# One step keeps the predictions of a batch (10 KB) and two scalars.
from __future__ import annotations

import collections
from typing import Any, Dict, List

import numpy as np
import tensorflow as tf

RECENT: collections.deque[Dict[str, Any]] = collections.deque()


class Callback:
    def on_batch_end(self, batch: int, logs: Dict[str, Any]) -> None:
        """Nothing, here."""


class StopOnNan(Callback):
    stopped = False

    def on_batch_end(self, batch: int, logs: Dict[str, Any]) -> None:
        self.stopped = self.stopped or bool(tf.math.is_nan(logs["loss"]))


class Dashboard(Callback):
    def on_batch_end(self, batch: int, logs: Dict[str, Any]) -> None:
        RECENT.append(dict(logs, batch=batch))  # leak

    def last(self, n: int) -> List[float]:
        return [float(RECENT[-k]["loss"]) for k in range(1, min(n, len(RECENT)) + 1)]


class Trainer:
    def __init__(self, callbacks: List[Callback]) -> None:
        self.callbacks = callbacks
        self.w = tf.Variable(tf.random.normal([16, 10], stddev=0.1))
        self.batch = 0

    def fit(self, x, y) -> None:
        predictions = tf.nn.softmax(tf.matmul(x, self.w))  # leak, made here
        loss = -tf.reduce_mean(tf.math.log(tf.gather(predictions, y, batch_dims=1)))
        logs = {"loss": loss, "confidence": tf.reduce_max(predictions), "predictions": predictions}
        for callback in self.callbacks:
            callback.on_batch_end(self.batch, logs)
        self.batch += 1


def setup() -> Trainer:
    return Trainer([StopOnNan(), Dashboard()])


def step(state: Trainer, i: int) -> None:
    random = np.random.default_rng(i)
    x = tf.constant(random.normal(size=(256, 16)), tf.float32)
    state.fit(x, tf.constant(random.integers(0, 10, size=256)))
    state.callbacks[1].last(3)  # type: ignore[attr-defined]
