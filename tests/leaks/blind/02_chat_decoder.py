"""A chat decoder: the prompt becomes one token longer with every call, and the shape with it.
LEAK retrace
"""

# One step keeps one trace (some 50–200 KB).

from __future__ import annotations

import numpy as np
import tensorflow as tf

VOCABULARY = 64


class Decoder:
    """A toy language model that takes the whole prompt."""

    def __init__(self) -> None:
        self.table = tf.Variable(np.random.rand(VOCABULARY, 16).astype(np.float32))
        self.out = tf.Variable(np.random.rand(16, VOCABULARY).astype(np.float32))
        self.next_token = tf.function(self._next_token)

    def _next_token(self, tokens):
        embedded = tf.reduce_mean(tf.gather(self.table, tokens), axis=0, keepdims=True)
        return tf.argmax(tf.matmul(embedded, self.out), axis=-1)[0]


class Chat:
    """A conversation: the tokens so far."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.tokens = [1]

    def say(self) -> int:
        prompt = np.array(self.tokens, dtype=np.int32)
        token = int(self.decoder.next_token(prompt))  # leak
        self.tokens.append(token)
        return token


def setup():
    return Chat(Decoder())


def step(state, i):
    state.say()
