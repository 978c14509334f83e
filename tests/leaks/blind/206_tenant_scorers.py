"""A multi-tenant gateway with a scorer object for each campaign, whose compiled method is its own.
LEAK function_library|retrace
"""

# One step keeps a scorer with its tf.function and a trace: campaigns are new each time and are never ended.
from __future__ import annotations

from typing import Dict

import numpy as np
import tensorflow as tf

BASE = tf.constant(np.random.default_rng(0).normal(size=(20, 6)), tf.float32)


class CampaignScorer:
    def __init__(self, campaign: str, bias: float) -> None:
        self.campaign = campaign
        self.bias = bias

    @tf.function(input_signature=[tf.TensorSpec([None, 20], tf.float32)])
    def score(self, x):
        return tf.nn.softmax(tf.matmul(x, BASE) + self.bias)


class Gateway:
    def __init__(self) -> None:
        self.scorers: Dict[str, CampaignScorer] = {}

    def scorer(self, campaign: str) -> CampaignScorer:
        found = self.scorers.get(campaign)
        if found is None:
            found = CampaignScorer(campaign, len(campaign) * 0.1)  # leak, made here
            self.scorers[campaign] = found  # leak
        return found

    def handle(self, campaign: str, x: np.ndarray) -> int:
        scores = self.scorer(campaign).score(tf.constant(x))  # leak
        return int(tf.argmax(scores[0]))


def setup() -> Gateway:
    return Gateway()


def step(state: Gateway, i: int) -> None:
    x = np.random.default_rng(i).normal(size=(4, 20)).astype(np.float32)
    state.handle("spring/%06d" % i, x)
