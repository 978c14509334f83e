"""An online adapter that enters one persistent tape at its start, through an ExitStack, and never leaves it.
LEAK tape|live_tensors
"""

# One step records its operations (some 10 tensors of 4 KB) on the tape.
from __future__ import annotations

import contextlib

import numpy as np
import tensorflow as tf


class Recorder:
    """Gradients at any time, «without a with around everything»."""

    def __init__(self) -> None:
        self.stack = contextlib.ExitStack()
        self.tape = self.stack.enter_context(tf.GradientTape(persistent=True))  # leak

    def gradient(self, loss, variables):
        with self.tape.stop_recording():
            return self.tape.gradient(loss, variables)

    def close(self) -> None:
        self.stack.close()


class OnlineAdapter:
    def __init__(self) -> None:
        self.w = tf.Variable(tf.random.normal([16, 16], stddev=0.1))
        self.recorder = Recorder()

    def forward(self, x: tf.Tensor) -> tf.Tensor:
        hidden = tf.tanh(tf.matmul(x, self.w))  # leak, made here
        return tf.tanh(tf.matmul(hidden, self.w))  # leak, made here

    def adapt(self, x: tf.Tensor) -> float:
        loss = tf.reduce_mean(tf.square(self.forward(x) - x))  # leak, made here
        (gradient,) = self.recorder.gradient(loss, [self.w])
        with self.recorder.tape.stop_recording():
            self.w.assign_sub(0.01 * gradient)
        return float(loss)


def setup() -> OnlineAdapter:
    return OnlineAdapter()


def step(state: OnlineAdapter, i: int) -> None:
    state.adapt(tf.constant(np.random.default_rng(i).normal(size=(64, 16)), tf.float32))
