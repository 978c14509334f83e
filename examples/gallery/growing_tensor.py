"""A decoder attends to everything that it has seen."""

import tensorflow as tf
import tfmemwatch

WIDTH = 512
seen = tf.zeros((1, WIDTH))


@tfmemwatch.watch
def decode(token):
    global seen
    query = tf.random.normal((4, WIDTH))
    attention = tf.nn.softmax(tf.matmul(query, seen, transpose_b=True))
    answer = tf.matmul(attention, seen)
    seen = tf.concat([seen, query], axis=0)  # leaks: it grows with each token
    return answer


for token in range(600):
    decode(token)
print(decode.report())
