"""An evaluation job that keeps a record for each sample, with the logits as a tensor, until the end.
LEAK live_tensors|python_objects
TF1
"""

# One step keeps four records, each with a tensor of 400 bytes.

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, List

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


@dataclass
class Record:
    sample: int
    label: int
    logits: Any


@dataclass
class Report:
    name: str
    records: List[Record] = field(default_factory=list)
    correct: int = 0

    def add(self, sample: int, label: int, logits: Any) -> None:
        self.records.append(Record(sample, label, logits))  # leak
        self.correct += int(tf.argmax(logits)) == label


class Evaluation:
    def __init__(self) -> None:
        self.w = tf.constant(np.random.rand(50, 100).astype(np.float32))
        self.report = Report("nightly")

    def batch(self, first: int, x: np.ndarray) -> None:
        logits = tf.matmul(tf.constant(x), self.w)  # leak, made here
        for k in range(x.shape[0]):
            self.report.add(first + k, k, logits[k])  # leak, made here


def setup():
    return Evaluation()


def step(state, i):
    state.batch(4 * i, np.random.rand(4, 50).astype(np.float32))
    time.sleep(0.003)  # waits for input
