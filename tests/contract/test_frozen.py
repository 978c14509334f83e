"""What a trace has frozen: Python state that it read, and large data."""

import numpy as np

import tfmemwatch

count = 0
TABLE = np.ones((600, 600), "f4")


def frozen():
    return [str(one) for one in tfmemwatch.current().frozen()]


def test_a_counter_that_stays_as_it_was_traced_is_named(tf, watch, failures):
    """A global, a closure's variable and an attribute that change after the trace: each by name."""
    global count
    calls = 0

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.seen = 0
            self.same = 5

        @tf.function(autograph=False)
        def step(self, x):
            return x * self.seen + count + calls + self.same

    model = Model()
    model.step(tf.ones(3))
    assert frozen() == []
    model.seen = 1
    count += 1
    calls += 1
    told = " ".join(frozen())
    assert "`count` has changed since `step` was traced" in told and "`calls`" in told
    assert "`self.seen`" in told or not hasattr(tf, "types")  # a method of 1.15 does not tell whose it is
    assert "`self.same`" not in told
    assert "Frozen into traces" in tfmemwatch.report()
    assert failures == {}


def test_large_data_baked_into_a_trace_is_named_with_line_and_bytes(tf, watch, failures):
    """An array that the function takes from outside becomes a constant of each trace."""

    @tf.function(autograph=False)
    def step(x):
        return x + tf.reduce_sum(tf.constant(TABLE))  # BAKED

    step(tf.ones(3))
    watch.read()
    (told,) = frozen()
    assert told.startswith("test_frozen.py:") and "`step`" in told and "1.44 MB in each trace" in told
    with open(__file__, encoding="utf-8") as source:
        (line,) = [number for number, text in enumerate(source, 1) if text.endswith("# BAKED\n")]
    assert ":%d " % line in told
    assert failures == {}
