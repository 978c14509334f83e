"""A beam search whose hypotheses get longer and whose beam is pruned to 8; after 120 tokens a new one begins.
INNOCENT slices of sorted lists (bound: 120 steps until full, then a saw)
TF1
"""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Hypothesis:
    def __init__(self, tokens, score, hidden):
        self.tokens = tokens
        self.score = score
        self.hidden = hidden


class Beam:
    def __init__(self, width, longest):
        self.width = width
        self.longest = longest
        self.w = tf.constant(np.random.rand(16, 16).astype(np.float32))
        self.begin()

    def begin(self):
        self.hypotheses = [Hypothesis([0], 0.0, tf.zeros([1, 16]))]

    def advance(self):
        longer = []
        for old in self.hypotheses:
            hidden = tf.tanh(tf.matmul(old.hidden, self.w) + len(old.tokens))
            values, tokens = tf.nn.top_k(hidden[0], k=3)
            for value, token in zip(values.numpy(), tokens.numpy()):
                longer.append(Hypothesis([*old.tokens, int(token)], old.score + float(value), hidden))
        longer.sort(key=lambda h: -h.score)
        self.hypotheses = longer[: self.width]
        if len(self.hypotheses[0].tokens) > self.longest:
            self.begin()


def setup():
    return Beam(width=8, longest=120)


def step(state, i):
    state.advance()
    time.sleep(0.001)
