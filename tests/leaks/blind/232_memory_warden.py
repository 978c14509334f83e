"""An image store without a limit; a warden's thread looks at the sizes of all stores and has the biggest emptied.
INNOCENT a thread empties it when all are more than 8 MB (bound: about 350 steps until full, then a saw of uneven teeth)
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Dict

import numpy as np
import tensorflow as tf

STORES: weakref.WeakSet[Store] = weakref.WeakSet()


class Store:
    def __init__(self) -> None:
        self.known: Dict[str, np.ndarray] = {}
        STORES.add(self)

    def put(self, key: str, value: np.ndarray) -> None:
        self.known[key] = value

    def weight(self) -> int:
        return sum(value.nbytes for value in list(self.known.values()))


def warden(allowed: int, pause: float) -> None:
    while True:
        time.sleep(pause)
        stores = sorted(STORES, key=Store.weight)
        if stores and sum(store.weight() for store in stores) > allowed:
            stores[-1].known.clear()


class Thumbnails:
    def __init__(self) -> None:
        self.small, self.large = Store(), Store()
        threading.Thread(target=warden, args=(8_000_000, 0.02), daemon=True).start()

    def make(self, name: str, image: np.ndarray) -> None:
        four = tf.constant(image)[None]
        self.large.put(name, tf.image.resize(four, [56, 56]).numpy())
        self.small.put(name, tf.image.resize(four, [32, 32]).numpy())


def setup() -> Thumbnails:
    return Thumbnails()


def step(state: Thumbnails, i: int) -> None:
    state.make("img%d" % i, np.random.default_rng(i).random((96, 96, 3), dtype=np.float32))
    time.sleep(0.002)
