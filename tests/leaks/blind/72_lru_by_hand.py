"""An image server with a cache of 300 decoded images: an OrderedDict, of which the least recently used goes.
INNOCENT popitem (bound: about 400 steps until full)
TF1
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict

import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Lru:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = OrderedDict()

    def get(self, key):
        value = self.entries.get(key)
        if value is not None:
            self.entries.move_to_end(key)
        return value

    def put(self, key, value):
        self.entries[key] = value
        while len(self.entries) > self.capacity:
            self.entries.popitem(last=False)


class ImageServer:
    def __init__(self):
        self.cache = Lru(300)

    def decode(self, name):
        seed = tf.constant([len(name), hash(name) % 10000])
        return tf.random.stateless_normal([24, 24, 3], seed)

    def image(self, name):
        image = self.cache.get(name)
        if image is None:
            image = self.decode(name)
            self.cache.put(name, image)
        return float(tf.reduce_mean(image))


def setup():
    return ImageServer()


def step(state, i):
    state.image("img-%d" % int(random.paretovariate(0.4)))
    time.sleep(0.001)  # the rest of the work
