"""On the real TensorFlow, memory is split by owner, in reports and as gauges; findings say the time to the limit."""

import time

import numpy as np
import pytest

import tfmemwatch
from tfmemwatch import catalog
from tfmemwatch.memory.forecast import Outlook, Slope
from tfmemwatch.memory.limits_ahead import LimitsAhead
from tfmemwatch.model import Finding, Site


def test_the_gauges_are_those_of_the_catalogue(tf, watch):
    """Each row has a reading, by the values of its label."""
    watch.look()
    gauges = watch.answers.gauges()
    assert set(gauges) == {row.metric for row in catalog.GAUGES}
    assert sum(gauges["tfmemwatch_memory_bytes"].values()) == gauges["tfmemwatch_resident_bytes"][""]
    assert gauges["tfmemwatch_limit_left_bytes"]["machine"] > 0
    assert gauges["tfmemwatch_limit_seconds"] == {}


def test_a_block_says_whose_memory_has_grown(tf, watch):
    """8 MiB of arrays and 4 MiB of tensors, by owner; the change stands beside each."""
    with tfmemwatch.watch("two leaks", owners=True) as block:
        arrays = [np.ones(1 << 17) for _ in range(8)]
        tensors = [tf.ones([1 << 17]) * float(number) for number in range(8)]
    lines = [line.split() for line in str(block.report()).splitlines()]
    assert ["NumPy", "arrays"] in [line[:2] for line in lines]
    grown = {" ".join(line[:2]): line[-2:] for line in lines if len(line) > 4}
    assert (grown["NumPy arrays"], grown["eager tensors"]) == (["+8", "MiB"], ["+4", "MiB"])
    assert len(arrays) == len(tensors)


def test_without_being_asked_a_block_splits_what_it_can_at_once(tf, watch):
    """Malloc as a whole; nothing is weighed."""
    with tfmemwatch.watch("plain") as block:
        kept = bytearray(20 << 20)
    (line,) = [line for line in str(block.report()).splitlines() if "malloc, other" in line]
    assert "+20" in line and len(kept)
    assert "NumPy" not in str(block.report())


def test_the_report_says_the_nearest_limit_and_a_snapshot_does_not_weigh_unasked(tf, watch):
    """report() has the owners; snapshot() only where they are asked for."""
    watch.look()
    assert "code and files" in str(tfmemwatch.report()) and "nearest limit: " in str(tfmemwatch.report())
    assert tfmemwatch.snapshot().account is None
    one, two = tfmemwatch.snapshot(owners=True), tfmemwatch.snapshot(owners=True)
    assert two.account.parts.keys() == one.account.parts.keys()
    assert "resident" in str(two.diff(one))


def test_the_report_says_how_fast_the_process_grows_and_since_when(tf, watch, monkeypatch):
    """In bytes an hour, and as a clock says it."""
    slope = Slope(200.0, 222.0, 240.0, time.monotonic() - 3600)
    monkeypatch.setattr(LimitsAhead, "rise", property(lambda horizon: slope))
    began = time.strftime("%H:%M", time.localtime(time.time() - 3600))
    assert "the process has grown by 780 KiB an hour since %s (" % began in str(tfmemwatch.report())


def test_a_finding_of_growing_bytes_says_when_the_limit_is_reached(tf, watch, monkeypatch):
    """In its sentence; one that is over, or whose bytes are not known, does not."""
    outlook = Outlook("container limit", 4 << 30, 11400.0, 9600.0, 14400.0, 1.0)
    monkeypatch.setattr(watch.explanations, "outlook", lambda: outlook)
    leak = Finding("variable", Site("a.py", 1, "f"), 0, 10, 1.0, "hour", 50000000, "leak", "cause", "cure", 0.9)
    told = watch.explanations.with_outlook([leak, leak._replace(state="over"), leak._replace(bytes=0)])
    assert [bool(one.outlook) for one in told] == [True, False, False]
    assert "at this rate the container limit of 4 GiB is reached in 3 h 10 min (2 h 40 min – 4 h)" in str(told[0])


def test_variables_made_before_the_watch_are_weighed_too(tf):
    """owners() needs no install()."""
    before = tfmemwatch.owners()
    kept = [tf.Variable(tf.zeros([100000])) for _ in range(5)]
    assert tfmemwatch.owners().less(before)["variables"] == 400000 * len(kept)


def test_tensors_that_share_memory_are_weighed_once(tf):
    """A reshape is a view of the same memory."""
    one = tf.ones([1000, 100]) * 2.0
    before = tfmemwatch.owners()
    kept = [tf.reshape(one, [100, 1000]) for _ in range(5)]
    if not hasattr(one, "_numpy_internal"):
        pytest.skip("this TensorFlow can't say where a tensor is: each counts")
    assert tfmemwatch.owners().less(before)["tensors"] == 0 * len(kept)
