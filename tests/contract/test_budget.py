"""How often a function may be traced: told, raised, or held by letting the oldest go."""

import gc
import weakref

import pytest

import tfmemwatch


@pytest.fixture
def function(tf):
    graphs = []

    @tf.function(autograph=False)
    def step(x, number):
        graphs.append(weakref.ref(tf.compat.v1.get_default_graph()))
        return x * number

    step.graphs = graphs
    return step


def test_one_trace_too_many_is_told_once(tf, function, failures):
    """The 4th of 3 is a finding with its reasons, and the 5th is none."""
    heard = []
    watch = tfmemwatch.install(max_traces=3, sample_seconds=3600, on_finding=heard.append, log=False, evidence=False)
    for number in range(6):
        function(tf.ones(3), number)
        watch.look()
    (finding,) = heard
    assert finding.kind == "retrace" and "max_traces" in finding.cause
    assert finding.why == "3 traces of `step`: `number` a new Python int each time (3)"
    assert finding.differs == "`number` a new Python int each time"
    assert failures == {}


def test_in_tests_one_trace_too_many_is_an_error(tf, function):
    """over_budget="raise": the call that traces once too often raises LeakFound, with the argument's name."""
    tfmemwatch.install(max_traces=3, over_budget="raise", sample_seconds=3600, log=False)
    for number in range(3):
        function(tf.ones(3), number)
    with pytest.raises(tfmemwatch.LeakFound, match="`number` a new Python int each time"):
        function(tf.ones(3), 7)
    tfmemwatch.uninstall()
    function(tf.ones(3), 8)


def test_the_oldest_traces_of_a_named_function_go(tf, function, failures):
    """evict=["step"]: no more than so many graphs stay alive, and the function goes on working."""
    if not hasattr(function, "experimental_get_tracing_count"):
        pytest.skip("the cache of this TensorFlow has no way to let one trace go")
    tfmemwatch.install(max_traces=3, evict=["step"], sample_seconds=3600, log=False)
    for number in range(12):
        assert float(function(tf.ones(()), number)) == number
    gc.collect()
    assert sum(graph() is not None for graph in function.graphs) <= 4
    assert float(function(tf.ones(()), 0)) == 0
    assert failures == {}
