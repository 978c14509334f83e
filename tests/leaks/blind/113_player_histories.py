"""A rating service with a list of games for each of 32 players; all the lists grow, each of them slowly.
LEAK python_objects
TF1
"""

# One step keeps a dict with an array of 800 bytes in one of the lists.

from __future__ import annotations

import random
import time
from collections import defaultdict

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Ratings:
    def __init__(self):
        self.games = defaultdict(list)
        self.w = tf.constant(np.random.rand(100).astype(np.float32))

    def played(self, player, moves):
        self.games[player].append({"moves": moves, "at": time.time()})  # leak

    def rating(self, player):
        last = self.games[player][-10:]
        return float(tf.add_n([tf.reduce_sum(self.w * game["moves"]) for game in last]))


def setup():
    return Ratings()


def step(state, i):
    player = "player-%d" % random.randrange(32)
    state.played(player, np.random.rand(100))  # leak, made here
    state.rating(player)
