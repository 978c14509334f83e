"""What the watch keeps of things that have died: makes and drops them, collects, and counts objects by their type.

    python tests/harmless/leftovers.py

As TensorFlow's own tests do (`assert_no_new_pyobjects_executing_eagerly`): the watch looks at nothing meanwhile. Prints
a line for each kind of thing, with what there is more of.
"""

import collections
import gc
import sys

import tensorflow as tf

import tfmemwatch

v1 = tf.compat.v1


def functions():
    tf.function(lambda x: x + 1.0)(tf.constant(1.0))


def retraced():
    function = tf.function(lambda x: x + 1.0)
    function(tf.constant(1.0))
    function(tf.constant([1.0]))


def variables():
    tf.Variable([1.0, 2.0])


def sessions():
    with tf.Graph().as_default():
        v1.Session().close()


def run_sessions():
    graph = tf.Graph()
    with graph.as_default():
        value = tf.constant(1.0) + 1.0
    session = v1.Session(graph=graph)
    session.run(value)
    session.close()


def dropped_sessions():
    v1.Session(graph=tf.Graph())


def graphs():
    tf.Graph()


def tapes():
    variable = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = variable * variable
    tape.gradient(loss, variable)


def iterators():
    iter(tf.data.Dataset.range(3))


def models():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model(tf.ones([1, 2]))


def concrete():
    tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([1]))


def compiled():
    tf.function(lambda x: x + 1.0, jit_compile=True).get_concrete_function(tf.TensorSpec([1]))


KINDS = (functions, retraced, variables, sessions, run_sessions, dropped_sessions, graphs, tapes, iterators, concrete,
         compiled, models)  # fmt: skip
REPEATS = 12


def counted():
    """How many objects there are of each type."""
    gc.collect()
    gc.collect()
    return collections.Counter("%s.%s" % (type(one).__module__, type(one).__name__) for one in gc.get_objects())


def more(make):
    """What there is more of after some of a kind have come and gone; what is kept by line was there before."""
    for _ in range(3):
        make()
    counted()
    before = counted()
    for _ in range(REPEATS):
        make()
    found = counted()
    found.subtract(before)
    return {name: number for name, number in found.items() if number >= REPEATS // 2}


if __name__ == "__main__":
    for prepare in KINDS:
        prepare()
    gc.collect()
    getattr(gc, "freeze", int)()  # TensorFlow's own objects need not be looked at in each collection
    bare = {make.__name__: more(make) for make in KINDS}
    if "bare" not in sys.argv:
        tfmemwatch.install(sample_seconds=3600, log=False)
    for make in KINDS:
        found = more(make)
        print(make.__name__, {name: n for name, n in found.items() if n > bare[make.__name__].get(name, 0)}, flush=True)
