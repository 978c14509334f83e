"""A tokenizer service that starts another worker when its queue is long, at most 16; each has a table of its own.
INNOCENT workers are at most 16 (bound: about 160 steps until full)
"""

from __future__ import annotations

import queue
import threading
from typing import List

import numpy as np
import tensorflow as tf


class Worker(threading.Thread):
    def __init__(self, number: int, jobs: queue.Queue) -> None:
        super().__init__(daemon=True, name="tokenizer-%d" % number)
        self.jobs = jobs
        self.table = np.random.default_rng(number).integers(0, 30000, size=60000)

    def run(self) -> None:
        while True:
            rows, answer = self.jobs.get()
            answer.put(self.table[rows % 60000])


class Service:
    MOST = 16

    def __init__(self) -> None:
        self.jobs: queue.Queue = queue.Queue(64)
        self.workers: List[Worker] = []
        self.load = 0.0

    def _scale(self, waiting: int) -> None:
        self.load = 0.95 * self.load + 0.05 * waiting
        if len(self.workers) < min(self.MOST, 1 + int(self.load)):
            self.workers.append(Worker(len(self.workers), self.jobs))
            self.workers[-1].start()

    def tokenize(self, texts: List[np.ndarray]) -> float:
        self._scale(len(texts))
        answer: queue.Queue = queue.Queue()
        for text in texts:
            self.jobs.put((text, answer))
        ids = np.stack([answer.get() for _ in texts])
        return float(tf.reduce_mean(tf.constant(ids, tf.float32)))


def setup() -> Service:
    return Service()


def step(state: Service, i: int) -> None:
    texts = 1 + min(19, i // 8)
    state.tokenize(list(np.random.default_rng(i).integers(0, 10**6, size=(texts, 50))))
