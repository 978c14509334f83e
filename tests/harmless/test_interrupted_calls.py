"""Ctrl-C or a time limit may end a call of the program's at any step within our hooks: what follows is counted on."""

import itertools
import os
import sys

import pytest

import tfmemwatch
from tfmemwatch.ledger.counts import Ledger
from tfmemwatch.memory.process import Process
from tfmemwatch.probes import BY_NAME
from tfmemwatch.probes.scene import Scene

OURS = os.path.dirname(tfmemwatch.__file__)


class Interrupt(KeyboardInterrupt):
    """At one step of ours."""


def interrupted(call, step):
    """Whether a call came to so many steps of ours, and was interrupted there."""
    left = itertools.count(step, -1)

    def traced(frame, what, argument):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        frame.f_trace_opcodes = True
        if what == "opcode" and next(left) == 0:
            raise Interrupt
        return traced

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 wants to know beforehand
    sys.settrace(traced)
    try:
        call()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.fixture
def install(fake_tf, failures):
    probes = []

    def made(name):
        probe = BY_NAME[name](Scene(Ledger(), Process(), "sites"))
        probes.append(probe)
        probe.install()
        return probe

    yield made
    for probe in probes:
        probe.uninstall()
        probe.scene.process.close()
    assert failures == {}


def test_a_model_is_counted_after_calls_that_were_interrupted_anywhere(install):
    """At each single step of the hook: the depth of calls is what it was, and none is under way."""
    import keras

    probe = install("models")
    for step in itertools.count():
        outer = keras.Model(keras.Model())
        was_met = interrupted(lambda outer=outer: outer.predict([1]), step)
        before = sum(row.calls for row in probe.calls())
        assert outer.predict([1, 2]) == [1, 2]
        assert sum(row.calls for row in probe.calls()) == before + 1
        assert (probe._local.depth, len(probe._calls.under_way)) == (0, 0)
        if not was_met:
            break
    assert step > 100


def test_a_trace_is_counted_after_traces_that_were_interrupted_anywhere(install, fake_tf):
    """The same, of a tf.function."""
    probe = install("traces")
    for step in itertools.count():
        function = fake_tf.polymorphic_function.Function(lambda *args: None)
        was_met = interrupted(lambda function=function: function(1), step)
        assert probe._local.depth == 0
        before = sum(tally.born for tally in probe.scene.ledger.read().values() if "trace" in tally.key.kind)
        function(2)
        after = sum(tally.born for tally in probe.scene.ledger.read().values() if "trace" in tally.key.kind)
        assert after == before + 1
        if not was_met:
            break
    assert step > 100
