"""A search for the best width builds a model for each trial."""

import tensorflow as tf
import tfmemwatch

features = tf.random.normal((64, 16))
labels = tf.reduce_sum(features, axis=1, keepdims=True)


def build(width):
    layers = [tf.keras.layers.Dense(width, activation="relu"), tf.keras.layers.Dense(1)]
    return tf.keras.Sequential(layers)


@tfmemwatch.watch
def trial(number):
    tf.keras.backend.clear_session()  # names begin anew
    model = build(8 + number % 4)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(features) - labels))
    for weight, gradient in zip(model.weights, tape.gradient(loss, model.weights)):
        weight.assign_sub(0.01 * gradient)
    return float(loss)


for number in range(40):
    trial(number)
print(trial.report())
