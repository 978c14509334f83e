"""A tokenizer that gives each word a number, and the words have product codes in them.
LEAK python_objects
TF1
"""

# One step keeps four strings and numbers (some 600 bytes); the dict has no object of the collector in it.

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
COMMON = "the cart has a red or blue chair with table and lamp".split()


class Tokenizer:
    def __init__(self):
        self.ids = {}

    def token(self, word):
        if word not in self.ids:
            self.ids[word] = len(self.ids)  # leak
        return self.ids[word]

    def tokens(self, text):
        return [self.token(word) for word in text.split()]


class Classifier:
    def __init__(self):
        self.tokenizer = Tokenizer()
        self.table = tf.constant(np.random.rand(1024, 16).astype(np.float32))

    def classify(self, text):
        ids = np.array(self.tokenizer.tokens(text)) % 1024
        return int(tf.argmax(tf.reduce_mean(tf.gather(self.table, ids), axis=0)))


def setup():
    return Classifier()


def step(state, i):
    words = random.choices(COMMON, k=10) + ["SKU-%024x" % (4 * i + k) for k in range(4)]  # leak, made here
    state.classify(" ".join(words))
    time.sleep(0.003)  # waits for input
