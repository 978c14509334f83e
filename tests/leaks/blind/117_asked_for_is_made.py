"""An A/B service that asks a defaultdict for each visitor, whereby an entry is made for each who has none.
LEAK python_objects
TF1
"""

# One step keeps two empty deques of some 600 bytes and a key.

from __future__ import annotations

import time
from collections import defaultdict, deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Visitors:
    def __init__(self):
        self.clicks = defaultdict(lambda: deque(maxlen=20))
        self.known = {"editor", "tester"}

    def click_rate(self, visitor):
        clicks = self.clicks[visitor]  # leak
        return sum(clicks) / len(clicks) if clicks else 0.1

    def clicked(self, visitor, item):
        if visitor in self.known:
            self.clicks[visitor].append(item)


def setup():
    return Visitors(), tf.constant(np.random.rand(2).astype(np.float32))


def step(state, i):
    visitors, w = state
    for visitor in ("v%d" % (2 * i), "v%d" % (2 * i + 1), "editor"):
        float(tf.reduce_max(w)) * visitors.click_rate(visitor)
        visitors.clicked(visitor, i)
    time.sleep(0.001)
