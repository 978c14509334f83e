"""A training opens its tape before the loop."""

import tensorflow as tf
import tfmemwatch

features, labels = tf.random.normal((256, 256)), tf.random.normal((256, 256))
weights = tf.Variable(tf.zeros((256, 256)))


@tfmemwatch.watch
def train_step(tape):
    errors = tf.matmul(features, weights) - labels
    loss = tf.reduce_mean(tf.square(errors))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss


for _ in range(160):
    with tf.GradientTape(persistent=True) as tape:
        train_step(tape)
print(train_step.report())
