"""On the real TensorFlow, each remedy gives back what it says, and runs only when it is named."""

import gc

import pytest

import tfmemwatch
from tfmemwatch.errors import ConfigError
from tfmemwatch.seams import functions, places


def outcome(trial, name):
    return next(one for one in trial.outcomes if one.name == name)


def test_without_a_name_only_the_harmless_are_tried(tf):
    """A collection and a trim; and a table of them."""
    trial = tfmemwatch.remedies()
    assert [one.name for one in trial.outcomes] == ["collect", "trim"]
    assert "gc.collect()" in str(trial) and "trim of glibc" in str(trial) and "in all" in str(trial)


def test_a_collection_gives_back_what_was_garbage(tf):
    """100,000 objects in a cycle are counted as they go."""
    cycle = [[] for _ in range(100000)]
    cycle.append(cycle)
    del cycle
    collected = outcome(tfmemwatch.remedies(), "collect")
    assert collected.objects > 99000
    assert collected.in_use_bytes > 5000000


def test_the_traces_of_a_function_go_and_it_works_on(tf):
    """By its name, or the function itself: 50 traces are forgotten, others' stay, and a call traces anew."""

    def hungry(x, number):
        for _ in range(20):
            x = x + number
        return x

    function, other = tf.function(hungry, autograph=False), tf.function(lambda x: x, autograph=False)
    other(tf.ones(1))
    for number in range(50):
        function(tf.ones(1), number)
    gc.collect()
    cleared = outcome(tfmemwatch.remedies(function="hungry"), "traces")
    assert "5" in cleared.note and "trace" in cleared.note
    assert cleared.objects > 1000
    assert float(function(tf.ones(1), 3)[0]) == 61.0
    assert "0 traces" not in outcome(tfmemwatch.remedies(function=function), "traces").note
    assert functions.clear_traces(other) >= 1


def test_a_function_that_is_not_there_is_said(tf):
    """Nothing is cleared, and nothing raised."""
    cleared = outcome(tfmemwatch.remedies(function="no such function"), "traces")
    assert "not possible: no tf.function of the name no such function is alive" in cleared.note
    assert "name the function" in outcome(tfmemwatch.remedies("traces"), "traces").note


def test_the_kernel_cache_gives_back_what_new_seeds_left(tf):
    """A kernel for each seed: some 36 kB each, and 2 kB on TensorFlow 1.15."""
    tf.random.set_seed(5)
    for _ in range(40):
        tf.random.normal([2])
    cleared = outcome(tfmemwatch.remedies("kernels"), "kernels")
    assert "failed" not in cleared.note and "not possible" not in cleared.note
    assert cleared.in_use_bytes > 40 * 1000
    assert tf.random.normal([2]).shape == (2,)


def test_the_scalar_cache_gives_back_what_new_numbers_left(tf):
    """Some 600 bytes each."""
    if not places.has("scalar_cache_clear"):
        pytest.skip("this TensorFlow can't empty it")
    x = tf.ones(1)
    for number in range(2000):
        x + float(number)
    assert outcome(tfmemwatch.remedies("scalars"), "scalars").in_use_bytes > 2000 * 300


def test_clear_session_is_that_of_the_programs_keras(tf):
    """It is named with the Keras that it was called of."""
    tf.keras.Sequential([tf.keras.layers.Dense(2)])
    note = outcome(tfmemwatch.remedies("clear_session"), "clear_session").note
    assert note.startswith(("keras", "tf_keras", "tensorflow")), note


def test_a_remedy_that_is_none_is_an_error_that_lists_them(tf):
    """Before anything is tried."""
    with pytest.raises(ConfigError, match="'reboot' is not a remedy; it must be one of collect, clear_session, traces"):
        tfmemwatch.remedies("reboot")
