"""A server of TensorFlow 1 opens a session for each user."""

import numpy as np
import tensorflow.compat.v1 as tf
import tfmemwatch

tf.disable_eager_execution()

features = tf.placeholder(tf.float32, [None, 16])
weights = tf.get_variable("weights", [16, 4])
answer = tf.nn.softmax(tf.matmul(features, weights))
start = tf.global_variables_initializer()
sessions = {}


@tfmemwatch.watch
def handle(user):
    if user not in sessions:
        sessions[user] = tf.Session()
        sessions[user].run(start)
    if len(sessions) > 8:
        sessions.pop(next(iter(sessions))).close()
    return sessions[user].run(answer, {features: np.ones((1, 16))})


for request in range(160):
    handle("user-%d" % (request // 2))
print(handle.report())
