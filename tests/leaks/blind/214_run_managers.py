"""A tuning service with a checkpoint manager for each run; the files go to an archive, the managers stay.
LEAK variable|python_objects
"""

# A run every 4 steps keeps a manager, a checkpoint and two variables (16 KB).
from __future__ import annotations

import os
import shutil
import tempfile
from typing import Dict

import tensorflow as tf

ROOT = tempfile.mkdtemp(prefix="runs-")


class Run:
    def __init__(self, name: str) -> None:
        self.directory = os.path.join(ROOT, name)
        self.weights = tf.Variable(tf.random.normal([64, 64]))  # leak, made here
        self.steps = tf.Variable(0)  # leak, made here
        self.checkpoint = tf.train.Checkpoint(weights=self.weights, steps=self.steps)
        self.manager = tf.train.CheckpointManager(self.checkpoint, self.directory, max_to_keep=1)

    def train(self) -> None:
        self.weights.assign(0.99 * self.weights + 0.01)
        self.steps.assign_add(1)


class TuningService:
    def __init__(self) -> None:
        self.runs: Dict[str, Run] = {}

    def run(self, name: str) -> Run:
        if name not in self.runs:
            self.runs[name] = Run(name)  # leak
        return self.runs[name]

    def finish(self, name: str) -> None:
        run = self.run(name)
        run.manager.save()
        self._archive(run.directory)

    def _archive(self, directory: str) -> None:
        """Would upload it."""
        shutil.rmtree(directory)


def setup() -> TuningService:
    return TuningService()


def step(state: TuningService, i: int) -> None:
    name = "run-%d" % (i // 4)
    state.run(name).train()
    if i % 4 == 3:
        state.finish(name)
