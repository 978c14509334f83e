"""A notebook server with views of tensors in a WeakValueDictionary; each of 160 cells holds its last two views.
INNOCENT weak references, and cells that forget (bound: about 900 steps until full)
"""

from __future__ import annotations

import random
import weakref
from typing import List, Optional

import numpy as np
import tensorflow as tf


class View:
    def __init__(self, number: int, tensor: tf.Tensor) -> None:
        self.number = number
        self.tensor = tensor


class Cell:
    def __init__(self) -> None:
        self.now: Optional[View] = None
        self.before: Optional[View] = None

    def show(self, view: View) -> None:
        self.before, self.now = self.now, view


class Notebook:
    def __init__(self, cells: int) -> None:
        self.cells: List[Cell] = [Cell() for _ in range(cells)]
        self.views: weakref.WeakValueDictionary[int, View] = weakref.WeakValueDictionary()
        self.random = random.Random(1)

    def run(self, number: int, rows: np.ndarray) -> int:
        view = View(number, tf.nn.relu(tf.constant(rows)))
        self.views[number] = view
        self.random.choice(self.cells).show(view)
        return len(self.views)


def setup() -> Notebook:
    return Notebook(160)


def step(state: Notebook, i: int) -> None:
    state.run(i, np.random.default_rng(i).normal(size=(64, 48)).astype(np.float32))
