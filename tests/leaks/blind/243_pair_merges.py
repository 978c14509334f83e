"""A tokenizer that learns a merge from each text, until it has 600 of them.
INNOCENT learning stops (bound: 600 steps until full)
"""

from __future__ import annotations

import collections
import random
from typing import Dict, List, Tuple

import tensorflow as tf


class PairMerges:
    def __init__(self, most: int) -> None:
        self.most = most
        self.merges: Dict[Tuple[str, str], str] = {}
        self.vectors: Dict[str, tf.Tensor] = {}

    def learn(self, text: List[str]) -> None:
        pairs = collections.Counter(zip(text, text[1:]))
        for pair, _ in pairs.most_common():
            if pair not in self.merges:
                if self._full():
                    return
                token = "".join(pair)
                self.merges[pair] = token
                self.vectors[token] = tf.random.normal([40, 32])
                return

    def _full(self) -> bool:
        return len(self.merges) >= self.most

    def apply(self, text: List[str]) -> List[str]:
        out: List[str] = []
        for token in text:
            if out and (out[-1], token) in self.merges and len(out[-1]) < 6:
                out[-1] = self.merges[out[-1], token]
            else:
                out.append(token)
        return out


class Learner:
    def __init__(self) -> None:
        self.random = random.Random(6)
        self.pairs = PairMerges(600)

    def text(self) -> List[str]:
        return self.random.choices("abcdefghijklmnopqrstuvwxyz ", k=200)


def setup() -> Learner:
    return Learner()


def step(state: Learner, i: int) -> None:
    text = state.pairs.apply(state.text())
    state.pairs.learn(text)
    tf.reduce_sum(tf.constant([len(token) for token in text])).numpy()
