"""Retrace, drop everything, collect; print what the allocator was said to give back, and what it gave.

python retained.py 150
"""

import gc
import json
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
import tensorflow as tf

from tfmemwatch.memory import account
from tfmemwatch.memory.process import Process


def main(times):
    tf.compat.v1.enable_v2_behavior()
    process = Process()
    begin = process.resident_bytes()

    @tf.function
    def step(x, number):
        for _ in range(10):
            x = tf.tanh(tf.matmul(x, x)) * number
        return x

    for number in range(times):
        step(tf.ones([8, 8]), number)
    grown = process.resident_bytes() - begin
    del step
    gc.collect()
    estimate = account.returnable(process)
    before = process.resident_bytes()
    process.allocator.trim()
    after = process.resident_bytes()
    told = {"allocator": process.allocator.name, "grown": grown, "estimate": estimate}
    print(json.dumps(dict(told, returned=before - after, off=process.off)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
