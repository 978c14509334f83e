"""An offline scorer with TF1 code that opens an InteractiveSession for each slice of the clicks.
LEAK session_unclosed
"""

# One step keeps a session, on the stack of default sessions.
from __future__ import annotations

from typing import Dict

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class RankingGraph:
    """DCG of the clicks at ten places."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.gains = tf1.placeholder(tf.float32, [None, 10])
            discount = tf.constant(1.0 / np.log2(np.arange(2, 12)), tf.float32)
            self.dcg = tf.reduce_mean(tf.reduce_sum(self.gains * discount, axis=1))


class OfflineScorer:
    def __init__(self, ranking: RankingGraph) -> None:
        self.ranking = ranking
        self.by_country: Dict[str, float] = {}

    def score(self, country: str, gains: np.ndarray) -> float:
        session = tf1.InteractiveSession(graph=self.ranking.graph)  # leak
        value = float(session.run(self.ranking.dcg, {self.ranking.gains: gains}))
        self.by_country[country] = value
        return value


def setup() -> OfflineScorer:
    return OfflineScorer(RankingGraph())


COUNTRIES = ["at", "ch", "de", "fr", "it"]


def step(state: OfflineScorer, i: int) -> None:
    gains = np.random.default_rng(i).integers(0, 2, size=(200, 10)).astype(np.float32)
    state.score(COUNTRIES[i % len(COUNTRIES)], gains)
