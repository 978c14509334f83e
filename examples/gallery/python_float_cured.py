"""A server scores each request with a weight that is a Python number."""

import numpy as np
import tensorflow as tf
import tfmemwatch

weights = tf.Variable(tf.random.normal((16, 4)))


@tf.function
def score(features, boost):
    return tf.nn.softmax(tf.matmul(features, weights) * boost)


@tfmemwatch.watch
def handle(request):
    features = tf.random.normal((1, 16))
    boost = 1.0 + request / 1000
    return score(features, tf.constant(np.float32(boost)))


for request in range(120):
    handle(request)
print(handle.report())
