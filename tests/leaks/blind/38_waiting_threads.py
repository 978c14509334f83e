"""A job server whose watchdog threads wait for an end that nobody tells them.
LEAK python_objects
TF1
"""

# Each fifth job keeps a thread, its stack, and an array of 8 KB.

from __future__ import annotations

import threading
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class Job:
    def __init__(self, number):
        self.number = number
        self.data = np.random.rand(1000)  # leak, made here
        self.finished = threading.Event()

    def run(self):
        total = float(tf.reduce_sum(tf.constant(self.data)))
        if self.number % 5:
            self.finished.set()
        return total


def watch(job):
    job.finished.wait()


def serve(number):
    job = Job(number)  # leak, made here
    threading.Thread(target=watch, args=(job,), daemon=True).start()  # leak
    return job.run()


def setup():
    threading.stack_size(256 * 1024)


def step(state, i):
    serve(i)
    time.sleep(0.003)  # waits for input
