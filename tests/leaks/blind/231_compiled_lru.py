"""A server that compiles a filter for each size and keeps the 20 used last; there are 22 sizes, two of them rare.
INNOCENT an OrderedDict of compiled functions loses its first (bound: about 100 steps until full)
"""

from __future__ import annotations

import collections
import random

import tensorflow as tf


class Compiled:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.functions: collections.OrderedDict[int, object] = collections.OrderedDict()

    def get(self, size: int):
        if size in self.functions:
            self.functions.move_to_end(size)
            return self.functions[size]
        kernel = tf.ones([size, 1]) / float(size)
        function = tf.function(lambda x: tf.matmul(x, kernel), input_signature=[tf.TensorSpec([4, size])])
        self.functions[size] = function
        if len(self.functions) > self.limit:
            self.functions.popitem(last=False)
        return function


class Server:
    def __init__(self) -> None:
        self.compiled = Compiled(20)
        self.random = random.Random(5)

    def handle(self) -> None:
        rare = self.random.random() < 0.02
        size = self.random.choice([88, 92] if rare else list(range(8, 88, 4)))
        self.compiled.get(size)(tf.ones([4, size])).numpy()


def setup() -> Server:
    return Server()


def step(state: Server, i: int) -> None:
    state.handle()
