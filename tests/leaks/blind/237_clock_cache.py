"""An embedding cache with the clock algorithm: 320 frames, a hand that goes round, and a bit for each frame.
INNOCENT the hand finds a frame to use again (bound: about 650 steps until full)
"""

from __future__ import annotations

import random
from typing import Dict, List, Optional

import tensorflow as tf


class Frame:
    __slots__ = ("key", "used", "value")

    def __init__(self, key: int, value: tf.Tensor) -> None:
        self.key = key
        self.value = value
        self.used = False


class ClockCache:
    def __init__(self, size: int) -> None:
        self.frames: List[Optional[Frame]] = [None] * size
        self.where: Dict[int, int] = {}
        self.hand = 0

    def get(self, key: int) -> Optional[tf.Tensor]:
        place = self.where.get(key)
        frame = self.frames[place] if place is not None else None
        if frame is None:
            return None
        frame.used = True
        return frame.value

    def put(self, key: int, value: tf.Tensor) -> None:
        while True:
            frame = self.frames[self.hand]
            if frame is None or not frame.used:
                break
            frame.used = False
            self.hand = (self.hand + 1) % len(self.frames)
        if frame is not None:
            del self.where[frame.key]
        self.frames[self.hand] = Frame(key, value)
        self.where[key] = self.hand
        self.hand = (self.hand + 1) % len(self.frames)


class Embedder:
    def __init__(self) -> None:
        self.cache = ClockCache(320)
        self.random = random.Random(2)
        self.w = tf.random.normal([64, 64])

    def word(self) -> float:
        key = int(self.random.paretovariate(0.35)) % 100000
        value = self.cache.get(key)
        if value is None:
            value = tf.matmul(tf.one_hot([key % 64] * 40, 64), self.w)
            self.cache.put(key, value)
        return float(value[0, 0])


def setup() -> Embedder:
    return Embedder()


def step(state: Embedder, i: int) -> None:
    state.word()
    state.word()
