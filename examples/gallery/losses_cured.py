"""A training keeps the loss of each example, to draw a curve at the end."""

import tensorflow as tf
import tfmemwatch

weights = tf.Variable(tf.zeros((8, 1)))
history = []


@tfmemwatch.watch
def train_step():
    features = tf.random.normal((50000, 8))
    labels = tf.reduce_sum(features, axis=1, keepdims=True)
    with tf.GradientTape() as tape:
        losses = tf.square(tf.matmul(features, weights) - labels)
    weights.assign_sub(1e-6 * tape.gradient(losses, weights))
    history.append(float(tf.reduce_mean(losses)))


for _ in range(120):
    train_step()
print(train_step.report())
