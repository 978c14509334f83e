"""What is baked into a trace: Python state that it read, and large data."""

import numpy as np

import tfmemwatch

count = 0
total = 0
TABLE = np.ones((600, 600), "f4")


def baked_in():
    return [str(one) for one in tfmemwatch.current().answers.baked_in()]


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
    assert baked_in() == []
    model.seen = 1
    count += 1
    calls += 1
    told = " ".join(baked_in())
    assert "`count` has changed since `step` was traced" in told and "`calls`" in told
    assert "`self.seen`" in told or not hasattr(tf, "types")  # a method of 1.15 does not tell whose it is
    assert "`self.same`" not in told
    assert "Baked into traces" in str(tfmemwatch.report())
    assert failures == {}


def line(mark):
    """The one line that ends in this mark."""
    with open(__file__, encoding="utf-8") as source:
        (found,) = [number for number, text in enumerate(source, 1) if text.endswith("# %s\n" % mark)]
    return found


def test_a_counter_that_the_traced_function_counts_itself_is_named_with_its_line(tf, watch, failures):
    """`self.calls += 1` happens in the trace alone: the counter stays at 1, and it is said where and what to do."""
    steps = 0

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.is_built = False
            self.first = None
            self.same = 5

        @tf.function
        def step(self, x):
            global total
            nonlocal steps
            self.calls += 1  # ATTRIBUTE
            total += 1  # GLOBAL
            steps = steps + 1  # CLOSURE
            self.is_built = True
            self.first = 3
            return x * self.same

    model = Model()
    for _ in range(3):
        model.step(tf.ones(3))
    assert (steps, total, model.calls) == (1, 1, 1)
    told = baked_in()
    cure = "is changed when `step` is traced, and by no call after that. Make it a tf.Variable"
    expected = {"steps": "CLOSURE", "total": "GLOBAL", "self.calls": "ATTRIBUTE"}
    assert len(told) == len(expected)
    for name, mark in expected.items():
        (one,) = [one for one in told if "`%s`" % name in one]
        assert one.startswith("test_baked_in.py:%d step()" % line(mark)) and cure in one
    model.step(tf.ones(4))  # counts once more: that is told already
    assert baked_in() == told
    assert failures == {}


def test_what_a_call_from_outside_changes_is_no_counter_of_the_trace(tf, watch):
    """A counter beside the tf.function is as it should be, and not told."""
    calls = 0

    @tf.function
    def step(x):
        return x + 1

    def run(x):
        nonlocal calls
        calls += 1
        return step(x)

    for _ in range(3):
        run(tf.ones(3))
    assert calls == 3 and baked_in() == []


def test_large_data_baked_into_a_trace_is_named_with_line_and_bytes(tf, watch, failures):
    """An array that the function takes from outside becomes a constant of each trace."""

    @tf.function(autograph=False)
    def step(x):
        return x + tf.reduce_sum(tf.constant(TABLE))  # BAKED

    step(tf.ones(3))
    watch.state.read()
    (told,) = baked_in()
    assert told.startswith("test_baked_in.py:") and "`step`" in told and "1.37 MiB in each trace" in told
    assert ":%d " % line("BAKED") in told
    assert failures == {}
