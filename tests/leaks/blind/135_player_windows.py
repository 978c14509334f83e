"""A rating service with a deque of the last 20 games for each of 40 players.
INNOCENT the cured twin of 113_player_histories.py (bound: about 1000 steps until full)
TF1
"""

from __future__ import annotations

import random
import time
from collections import defaultdict, deque

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Ratings:
    def __init__(self):
        self.games = defaultdict(lambda: deque(maxlen=20))
        self.w = tf.constant(np.random.rand(100).astype(np.float32))

    def played(self, player, moves):
        self.games[player].append({"moves": moves, "at": time.time()})

    def rating(self, player):
        last = list(self.games[player])[-10:]
        return float(tf.add_n([tf.reduce_sum(self.w * game["moves"]) for game in last]))


def setup():
    return Ratings()


def step(state, i):
    player = "player-%d" % random.randrange(40)
    state.played(player, np.random.rand(100))
    state.rating(player)
