"""A chat decoder: prompts are padded to powers of two, conversations end after 500 tokens.
INNOCENT the cured twin of 02_chat_decoder.py: ten shapes (bound: 500 steps until full)
"""

from __future__ import annotations

import time

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
        if len(self.tokens) > 500:
            self.tokens = [1]
        room = 1
        while room < len(self.tokens):
            room *= 2
        prompt = np.zeros(room, np.int32)
        prompt[: len(self.tokens)] = self.tokens
        token = int(self.decoder.next_token(prompt))
        self.tokens.append(token)
        return token


def setup():
    return Chat(Decoder())


def step(state, i):
    state.say()
    time.sleep(0.002)  # until the next one comes
