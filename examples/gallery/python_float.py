"""A server scores each request with a weight that is a Python number."""

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
    return score(features, boost)  # leaks: a trace for each new number


for request in range(120):
    handle(request)
print(handle.report())
