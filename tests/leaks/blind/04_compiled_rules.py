"""A rules engine that compiles a function for every order and keeps it by the order's number.
LEAK function_library|retrace
"""

# One step keeps one tf.function and its trace.

from __future__ import annotations

import tensorflow as tf


class RulesEngine:
    def __init__(self):
        self.compiled = {}

    def rule(self, order, discount):
        if order not in self.compiled:

            def apply(prices):
                return tf.reduce_sum(prices * (1.0 - discount))

            self.compiled[order] = tf.function(apply)  # leak
        return self.compiled[order]

    def total(self, order, prices):
        return self.rule(order, discount=0.05)(prices)  # leak


def setup():
    return RulesEngine()


def step(state, i):
    state.total("order-%06d" % i, tf.constant([10.0, 20.0, 30.0]))
