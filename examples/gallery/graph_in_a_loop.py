"""A training of TensorFlow 1 lowers its learning rate in the loop."""

import numpy as np
import tensorflow.compat.v1 as tf
import tfmemwatch

tf.disable_eager_execution()

features = tf.placeholder(tf.float32, [None, 16])
weights = tf.get_variable("weights", [16, 1])
rate = tf.get_variable("rate", initializer=0.1, trainable=False)
loss = tf.reduce_mean(tf.square(tf.matmul(features, weights) - 1.0))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
new_rate = tf.placeholder(tf.float32, [])
set_rate = rate.assign(new_rate)
session = tf.Session()
session.run(tf.global_variables_initializer())


@tfmemwatch.watch
def train_step(step):
    session.run(rate.assign(0.1 / (1 + step)))  # leaks: operations that the graph keeps
    session.run(train, {features: np.random.rand(32, 16)})


for step in range(120):
    train_step(step)
print(train_step.report())
