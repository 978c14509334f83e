"""A traced service that sets its current span in a context variable and resets it only where nothing returns early.
LEAK python_objects|live_tensors
"""

# One request in two leaves its span behind, with its parent, which is the one left behind before, and 32 KB.
from __future__ import annotations

import contextvars
from typing import Any, Dict, Optional

import numpy as np
import tensorflow as tf


class Span:
    def __init__(self, name: str, parent: Optional[Span]) -> None:
        self.name = name
        self.parent = parent
        self.notes: Dict[str, Any] = {}


CURRENT: contextvars.ContextVar[Optional[Span]] = contextvars.ContextVar("span", default=None)


def begin(name: str) -> contextvars.Token:
    return CURRENT.set(Span(name, CURRENT.get()))  # leak


def note(**what: Any) -> None:
    span = CURRENT.get()
    if span is not None:
        span.notes.update(what)


class Ranker:
    def __init__(self) -> None:
        self.w = tf.random.normal([24, 64])

    def rank(self, rows: np.ndarray) -> int:
        token = begin("rank")
        features = tf.matmul(tf.constant(rows), self.w)  # leak, made here
        note(features=features)
        best = int(tf.argmax(tf.reduce_sum(features, axis=1)))
        if best >= len(rows) // 2:
            return -1
        CURRENT.reset(token)
        return best


def setup() -> Ranker:
    return Ranker()


def step(state: Ranker, i: int) -> None:
    state.rank(np.random.default_rng(i).normal(size=(128, 24)).astype(np.float32))
