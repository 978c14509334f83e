"""A training averages its last weights, and keeps every one of them."""

import tensorflow as tf
import tfmemwatch

features, labels = tf.random.normal((32, 512)), tf.random.normal((32, 512))
weights = tf.Variable(tf.zeros((512, 512)))
snapshots = []


@tfmemwatch.watch
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(features, weights) - labels))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    snapshots.append(tf.Variable(weights, trainable=False))  # leaks: a variable for each step
    return tf.add_n(snapshots[-10:]) / 10.0


for _ in range(100):
    train_step()
print(train_step.report())
