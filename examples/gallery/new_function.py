"""An evaluation hands a function that it has just made to a tf.function."""

import functools

import tensorflow as tf
import tfmemwatch

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


def huber(errors, delta):
    small = tf.minimum(tf.abs(errors), delta)
    return tf.reduce_mean(small * (tf.abs(errors) - small / 2))


@tf.function
def measure(features, labels, metric):
    return metric(labels - model(features))


@tfmemwatch.watch
def evaluate(batch):
    features, labels = tf.random.normal((32, 8)), tf.random.normal((32, 1))
    metric = functools.partial(huber, delta=1.0)
    return measure(features, labels, metric)  # leaks: a trace for each new function


for batch in range(120):
    evaluate(batch)
print(evaluate.report())
