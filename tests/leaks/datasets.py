"""Datasets that remember, and iterators that are kept."""

import tensorflow as tf
from features import dataset_functions_stay, tensorflow_2
from pairs import leak


def numbers():
    return tf.data.Dataset.range(10**6).map(lambda v: tf.fill((64,), tf.cast(v, tf.float32)))


@leak("dataset_iterator")
class IteratorPerClient:
    """An iterator for each client, in a dict; cured by dropping those that left. tf#37653"""

    def __init__(self):
        self.dataset = numbers().batch(8)
        self.iterators = {}

    def batch_for(self, client):
        if client not in self.iterators:
            self.iterators[client] = iter(self.dataset)  # CULPRIT
        return next(self.iterators[client])

    def leaky(self, i):
        self.batch_for(i)

    def cured(self, i):
        self.batch_for(i)
        self.iterators.pop(i - 4, None)


@leak("dataset_iterator", steps=1000, needs=(tensorflow_2,))  # its prefetching comes in bursts: an inquiry looks on
class CacheOfEndless:
    """cache() on a stream that never repeats; cured by leaving it out. tf#27128"""

    def __init__(self):
        self.stream = tf.data.Dataset.range(10**9).map(lambda v: tf.fill((32, 32), tf.cast(v, tf.float32)))

    def before_leaky(self):
        self.rows = iter(self.stream.cache().batch(4))  # CULPRIT

    def before_cured(self):
        self.rows = iter(self.stream.batch(4))

    def leaky(self, i):
        next(self.rows)

    def cured(self, i):
        next(self.rows)


@leak("native_heap", steps=800, needs=(dataset_functions_stay,))
class MapPerRequest:
    """A pipeline with a lambda for each request leaves 66 kB of native memory; cured by building it once. tf#20436"""

    def __init__(self):
        self.x = tf.ones((8, 4))
        self.once = tf.data.Dataset.from_tensor_slices(self.x).map(lambda t: t * 2.0)

    def leaky(self, i):
        for _ in tf.data.Dataset.from_tensor_slices(self.x).map(lambda t: t * 2.0):  # CULPRIT
            pass

    def cured(self, i):
        for _ in self.once:
            pass


@leak("python_objects", needs=(tensorflow_2,))
class GeneratorPerRound:
    """from_generator() for each round leaves its functions registered; cured by building it once. tf#37653"""

    def __init__(self):
        self.once = self.rounds()

    @staticmethod
    def rows():
        yield from range(5)

    def rounds(self):
        return tf.data.Dataset.from_generator(self.rows, output_signature=tf.TensorSpec((), tf.int32))  # CULPRIT

    def leaky(self, i):
        for _ in self.rounds():
            pass

    def cured(self, i):
        for _ in self.once:
            pass
