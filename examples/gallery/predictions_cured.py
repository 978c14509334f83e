"""A recommender remembers what it has said to each user."""

import numpy as np
import tensorflow as tf
import tfmemwatch

items = tf.random.normal((20000, 16))
cache = {}


@tfmemwatch.watch
def recommend(user):
    if user not in cache:
        taste = tf.random.normal((16, 1))
        cache[user] = np.array(tf.matmul(items, taste))
        if len(cache) > 50:
            del cache[next(iter(cache))]
    return cache[user].argmax()


for request in range(480):
    recommend("user-%d" % (request // 2))
print(recommend.report())
