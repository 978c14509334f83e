"""A training reads one example for every two that are put into its queue."""

import tensorflow as tf
import tfmemwatch

queue = tf.queue.FIFOQueue(10**6, [tf.float32], [(4096,)])
weights = tf.Variable(tf.zeros((4096,)))


def read_file():
    for row in tf.unstack(tf.random.normal((2, 4096))):
        queue.enqueue(row)


@tfmemwatch.watch
def train_step(step):
    if queue.size() == 0:
        read_file()
    example = queue.dequeue()
    weights.assign_sub(0.01 * (weights - example))


for step in range(600):
    train_step(step)
print(train_step.report())
