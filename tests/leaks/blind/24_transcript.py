"""A translation job that keeps each line that it has written for a report at the end.
LEAK python_objects
TF1
"""

# One step keeps a string of some 900 bytes.

from __future__ import annotations

import random
import time

import tensorflow as tf

tf.compat.v1.enable_v2_behavior()
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()


class Translation:
    def __init__(self):
        self.transcript = []

    def translate(self, sentence):
        tokens = tf.strings.split([sentence]).values
        return b" ".join(tf.strings.upper(tokens).numpy()).decode() if tf.__version__ >= "2" else sentence.upper()

    def run(self, number):
        sentence = " ".join(random.choice(WORDS) for _ in range(80))
        line = "%07d %s -> %s" % (number, sentence, self.translate(sentence))  # leak, made here
        self.transcript.append(line)  # leak


def setup():
    return Translation()


def step(state, i):
    state.run(i)
    time.sleep(0.001)  # the rest of the work
