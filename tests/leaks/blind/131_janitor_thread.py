"""A session store whose entries are removed by a thread that looks every tenth of a second; there are about 400.
INNOCENT a thread takes them out (bound: about 300 steps until full, then a saw)
TF1
"""

from __future__ import annotations

import threading
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Store:
    def __init__(self):
        self.sessions = {}
        self.lock = threading.Lock()

    def put(self, key, hidden):
        with self.lock:
            self.sessions[key] = hidden


def janitor(store, most):
    while True:
        time.sleep(0.1)
        with store.lock:
            surplus = len(store.sessions) - most
            for key in list(store.sessions)[: max(0, surplus)]:
                store.sessions.pop(key)


def setup():
    store = Store()
    threading.Thread(target=janitor, args=(store, 300), daemon=True).start()
    return store


def step(state, i):
    state.put(i, tf.tanh(tf.constant(np.random.rand(256).astype(np.float32))))
    time.sleep(0.002)
