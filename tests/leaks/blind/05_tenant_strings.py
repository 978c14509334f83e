"""A log classifier: each request's trace id goes into the compiled function as a Python string.
LEAK retrace
"""

# One step keeps one trace; the string is only there for a tf.print that is never on.

from __future__ import annotations

import uuid

import tensorflow as tf

VERBOSE = False


@tf.function
def classify(vector, trace_id):
    if VERBOSE:
        tf.print("classify", trace_id)
    hidden = tf.nn.relu(vector * 2.0 - 1.0)
    return tf.nn.softmax(hidden)


def handle(vector):
    trace_id = uuid.uuid4().hex
    return classify(vector, trace_id).numpy().argmax()  # leak


def setup():
    return tf.linspace(0.0, 1.0, 20)


def step(state, i):
    handle(state)
