"""A session store of eight shards, each a dataclass with a dict of at most 60 sessions.
INNOCENT the oldest of a shard goes (bound: about 550 steps until full)
TF1
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, field
from typing import Any, Dict, List

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


@dataclass
class Session:
    user: str
    hidden: Any
    turns: int = 0


@dataclass
class Shard:
    capacity: int
    sessions: Dict[str, Session] = field(default_factory=dict)

    def get(self, user: str) -> Session:
        if user not in self.sessions:
            if len(self.sessions) >= self.capacity:
                del self.sessions[next(iter(self.sessions))]
            self.sessions[user] = Session(user, tf.zeros([256]))
        return self.sessions[user]


@dataclass
class Store:
    shards: List[Shard] = field(default_factory=lambda: [Shard(60) for _ in range(8)])

    def session(self, user: str) -> Session:
        return self.shards[zlib.crc32(user.encode()) % len(self.shards)].get(user)


def setup():
    return Store()


def step(state, i):
    session = state.session("user-%d" % i)
    session.hidden = tf.tanh(session.hidden + np.random.rand(256).astype(np.float32))
    session.turns += 1
    time.sleep(0.002)  # until the next one comes
