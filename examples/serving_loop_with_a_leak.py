"""A small model server, as many are written, with one real leak in it. Run it: `make demo`.

Two lines of it are tfmemwatch's. Every request is scored with a weight that is a Python number: an argument that is
new each time, so TensorFlow traces the function again for each request and keeps every trace.
"""

from __future__ import annotations

import logging
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # so that only what matters is seen
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tfmemwatch

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", datefmt="%H:%M:%S")
tfmemwatch.install(sample_seconds=0.05)  # 5 seconds in production; a demo should not take an hour

import tensorflow as tf

tf.get_logger().setLevel("ERROR")


class Server:
    """Answers requests with a small network."""

    def __init__(self) -> None:
        self.weights = tf.Variable(tf.random.normal((16, 4)))
        self.served = 0

    @tf.function
    def score(self, features: tf.Tensor, boost: float) -> tf.Tensor:
        return tf.nn.softmax(tf.matmul(features, self.weights) * boost)

    def handle(self, request: int) -> tf.Tensor:
        self.served += 1
        boost = 1.0 + request / 1000
        return self.score(tf.ones((1, 16)), boost)  # <- here


def main() -> int:
    server = Server()
    print("Serving with TensorFlow %s; the leak is in the line marked «<- here».\n" % tf.__version__, flush=True)
    began = time.monotonic()
    while not tfmemwatch.findings() and time.monotonic() - began < 60:
        server.handle(server.served)
    print("\nAfter %d requests in %.1f seconds. What tfmemwatch knows:\n" % (server.served, time.monotonic() - began))
    print(tfmemwatch.report())
    found = bool(tfmemwatch.findings())
    tfmemwatch.uninstall()
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
