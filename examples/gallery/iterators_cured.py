"""A server streams batches to its clients, each from where it was."""

import tensorflow as tf
import tfmemwatch

rows = tf.random.normal((1000, 64))
dataset = tf.data.Dataset.from_tensor_slices(rows).shuffle(1000).batch(50).prefetch(2)
streams = {}


@tfmemwatch.watch
def next_batch(client):
    if client not in streams:
        streams[client] = iter(dataset)
    if len(streams) > 8:
        del streams[next(iter(streams))]
    return next(streams[client])


for request in range(120):
    next_batch("client-%d" % (request // 2))
print(next_batch.report())
