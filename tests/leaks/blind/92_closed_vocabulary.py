"""A tokenizer that learns the words of a language of 2500 words, the rare ones late.
INNOCENT a vocabulary that saturates (bound: about 2500 steps until full; 90 % after 900)
TF1
"""

from __future__ import annotations

import random
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
WORDS = 2500


class Tokenizer:
    def __init__(self):
        self.ids = {}

    def token(self, word):
        if word not in self.ids:
            self.ids[word] = len(self.ids)
        return self.ids[word]


class Classifier:
    def __init__(self):
        self.tokenizer = Tokenizer()
        self.table = tf.constant(np.random.rand(WORDS, 16).astype(np.float32))

    def classify(self, words):
        ids = np.array([self.tokenizer.token(word) for word in words])
        return int(tf.argmax(tf.reduce_mean(tf.gather(self.table, ids), axis=0)))


def setup():
    return Classifier()


def step(state, i):
    state.classify(["word%d" % int(WORDS * random.random() ** 1.5) for _ in range(8)])
    time.sleep(0.003)  # waits for input
