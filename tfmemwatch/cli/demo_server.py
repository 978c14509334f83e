"""A small model server, as many are written, with one real leak in it: `tfmemwatch demo` runs it.

No line of it is tfmemwatch's. Every request is scored with a weight that is a Python number: an argument that is new
each time, so TensorFlow traces the function again for each request and keeps every trace.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # so that only what matters is seen
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf

REQUESTS, LEAST_SECONDS, MOST_SECONDS = 1500, 12.0, 45.0


class Server:
    """Answers requests with a small network."""

    def __init__(self) -> None:
        self.weights = tf.Variable(tf.random.normal((16, 4)))

    @tf.function  # type: ignore[untyped-decorator]
    def score(self, features: tf.Tensor, boost: float) -> tf.Tensor:
        """The network; `boost` is the mistake."""
        return tf.nn.softmax(tf.matmul(features, self.weights) * boost)

    def handle(self, request: int) -> tf.Tensor:
        """One request."""
        boost = 1.0 + request / 1000
        return self.score(tf.ones((1, 16)), boost)  # <- here


def main() -> None:
    """Serve for some seconds."""
    tf.get_logger().setLevel("ERROR")
    server, began, request = Server(), time.monotonic(), 0
    print("Serving with TensorFlow %s." % tf.__version__, flush=True)
    while request < REQUESTS or time.monotonic() - began < LEAST_SECONDS:
        if time.monotonic() - began > MOST_SECONDS:
            break
        server.handle(request)
        request += 1
    print("%d requests served; the server ends." % request, flush=True)


if __name__ == "__main__":
    main()
