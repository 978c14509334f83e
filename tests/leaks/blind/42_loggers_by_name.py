"""A pipeline that asks for a logger with the request's number in its name, and gives it a handler.
LEAK python_objects
TF1
"""

# One step keeps a logger, a handler and a filter.

from __future__ import annotations

import logging
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class RequestFilter(logging.Filter):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def filter(self, record):
        record.request = self.number
        return True


def logger_for(number):
    logger = logging.getLogger("service.request.%d" % number)  # leak
    handler = logging.NullHandler()  # leak, made here
    handler.addFilter(RequestFilter(number))
    logger.addHandler(handler)  # leak
    logger.propagate = False
    return logger


def handle(number, x):
    logger = logger_for(number)
    total = float(tf.reduce_sum(tf.sqrt(x)))
    logger.info("total %s", total)
    return total


def setup():
    return None


def step(state, i):
    handle(i, tf.constant(np.random.rand(500).astype(np.float32)))
    time.sleep(0.001)  # the rest of the work
