"""A multi-task trainer that hands its compiled step a lambda with the weight of the task, made for each batch.
LEAK retrace
"""

# One step keeps a trace for the new function.
from __future__ import annotations

import random

import tensorflow as tf


class SharedTrunk(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.random.normal([24, 8], stddev=0.1))

    @tf.function(autograph=False)
    def evaluate(self, y, predicted, loss_fn):  # leak, made here
        return loss_fn(y, predicted)

    def __call__(self, x):
        return tf.tanh(tf.matmul(x, self.w))


class Task:
    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.random = random.Random(seed)

    def loss(self, difficulty):
        weight = tf.constant(difficulty, tf.float32)
        return lambda y, p: tf.reduce_mean(tf.square(y - p)) * weight


class MultiTask:
    def __init__(self) -> None:
        self.trunk = SharedTrunk()
        self.tasks = [Task("depth", 1), Task("normals", 2), Task("edges", 3)]
        self.sums = {task.name: 0.0 for task in self.tasks}

    def run(self, i: int) -> None:
        task = self.tasks[i % len(self.tasks)]
        x = tf.random.normal([8, 24])
        y = tf.random.normal([8, 8])
        predicted = self.trunk(x)
        self.sums[task.name] += float(self.trunk.evaluate(y, predicted, task.loss(task.random.random())))  # leak


def setup() -> MultiTask:
    return MultiTask()


def step(state: MultiTask, i: int) -> None:
    state.run(i)
