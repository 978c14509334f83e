"""A video client with a wrapper of a C library, whose frames have a release() that nobody calls.
LEAK native_heap
"""

# One step leaves 48 KB of malloc; no Python object stays.
from __future__ import annotations

import ctypes

import numpy as np
import tensorflow as tf

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]


class NativeFrame:
    """A frame of floats in C's memory."""

    def __init__(self, height: int, width: int) -> None:
        self.shape = (height, width)
        self.address = _libc.malloc(height * width * 4)  # leak

    def array(self) -> np.ndarray:
        flat = (ctypes.c_float * (self.shape[0] * self.shape[1])).from_address(self.address)
        return np.frombuffer(flat, np.float32).reshape(self.shape)

    def release(self) -> None:
        _libc.free(self.address)
        self.address = 0


class Decoder:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def next(self) -> NativeFrame:
        frame = NativeFrame(96, 128)  # leak
        frame.array()[:] = self.random.random((96, 128), dtype=np.float32)
        return frame


class MotionMeter:
    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.before = tf.zeros([96, 128])

    def measure(self) -> float:
        frame = self.decoder.next()
        now = tf.constant(frame.array().copy())
        motion = float(tf.reduce_mean(tf.abs(now - self.before)))
        self.before = now
        return motion


def setup() -> MotionMeter:
    return MotionMeter(Decoder(2))


def step(state: MotionMeter, i: int) -> None:
    state.measure()
