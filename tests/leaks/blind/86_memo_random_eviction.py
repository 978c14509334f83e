"""A route planner with a memo of 700 results, from which some entry goes when it is full.
INNOCENT pop(next(iter(…))) (bound: about 300 steps until full)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()

LIMIT = 700
memo = {}
costs = tf.constant(np.random.rand(50, 50).astype(np.float32))


def distance(a, b, hour):
    key = (a, b, hour)
    if key in memo:
        return memo[key]
    if len(memo) >= LIMIT:
        memo.pop(next(iter(memo)))
    row = costs[a] + costs[b] * (1.0 + hour / 24.0)
    memo[key] = {"row": row, "best": float(tf.reduce_min(row))}
    return memo[key]


def setup():
    return None


def step(state, i):
    for _ in range(3):
        distance(random.randrange(50), random.randrange(50), i % 24)
    time.sleep(0.003)  # waits for input
