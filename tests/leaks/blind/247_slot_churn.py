"""A game server with 250 rooms, each with a message of another length every time it is written.
INNOCENT rooms are written over at random (bound: about 300 steps until full)
"""

from __future__ import annotations

import random
from typing import Dict

import numpy as np
import tensorflow as tf


class Rooms:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.state: Dict[int, Dict[str, object]] = {}

    def write(self, room: int, score: float) -> None:
        size = int(self.random.paretovariate(1.2) * 500)
        self.state[room] = {
            "message": bytes(min(size, 200_000)),
            "trail": [score] * self.random.randint(10, 600),
            "names": ["player-%d-%d" % (room, n) for n in range(self.random.randint(1, 60))],
        }

    def anyone(self) -> int:
        return self.random.randrange(250)


class GameServer:
    def __init__(self) -> None:
        self.rooms = Rooms(7)
        self.w = tf.random.normal([40, 1])

    def tick(self, i: int) -> None:
        x = tf.constant(np.random.default_rng(i).normal(size=(4, 40)), tf.float32)
        for score in tf.matmul(x, self.w)[:, 0].numpy():
            self.rooms.write(self.rooms.anyone(), float(score))


def setup() -> GameServer:
    return GameServer()


def step(state: GameServer, i: int) -> None:
    state.tick(i)
