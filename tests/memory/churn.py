"""A model whose calls take and free 50 MB each, and leave 1 kB behind, or nothing; prints what was found, and when.

python churn.py block none 100000
TFMEMWATCH_SAMPLE_SECONDS=1 python churn.py left_on malloc 5000
"""

import ctypes
import json
import os
import sys
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
import numpy as np
import tensorflow as tf

import tfmemwatch

SIZE = 50 << 20
kept = []
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
LEAKS = {
    "none": lambda: None,
    "numpy": lambda: kept.append(np.ones(128)),
    "tensor": lambda: kept.append(tf.fill([256], 1.0)),
    "malloc": lambda: libc.malloc(1024),
}


class Net(tf.keras.Model):
    """Small, but for what its calls take: one large block, of which few pages are touched, and many of all sizes."""

    def __init__(self, leak):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)
        self.leak = LEAKS[leak]

    def call(self, x):
        y = self.dense(x)
        scratch = np.empty(SIZE, np.uint8)
        scratch[:: SIZE // 16] = 1
        parts = [np.empty(int(size), np.uint8) for size in np.random.randint(200, 200000, 20)]
        del scratch, parts
        self.leak()
        return y


def steps(net, x, calls):
    """By steps: the calls until something was found, and what that is."""
    with tfmemwatch.watch("calls", log=False) as block:
        while block.steps < calls and not block.findings:
            net(x)
            block.step()
    return block.steps, block.findings


def left_on(net, x, calls):
    """By the clock, from a thread that looks as often as `TFMEMWATCH_SAMPLE_SECONDS` says."""
    tfmemwatch.install(log=False, max_overhead=1.0)
    for number in range(1, calls + 1):
        net(x)
        if number % 50 == 0 and tfmemwatch.findings():
            break
    return number, tfmemwatch.findings()


def main(way, leak, calls):
    tf.compat.v1.enable_v2_behavior()
    np.random.seed(7)
    began = time.monotonic()
    number, findings = {"block": steps, "left_on": left_on}[way](Net(leak), tf.ones((2, 8)), calls)
    told = {"calls": number, "found": [one.kind for one in findings], "said": [str(one) for one in findings]}
    print(json.dumps(dict(told, seconds=round(time.monotonic() - began, 1))), flush=True)
    os._exit(0)  # what was left is slow to take down


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
