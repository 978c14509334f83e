"""Evidence that is asked for: caches that are emptied, and none that is taken when memory runs out."""

import pytest

import tfmemwatch
from tfmemwatch.memory.limits import Limit


@pytest.fixture
def active(monkeypatch):
    """A watch that may empty caches, and that sees no operations: the caches alone can tell."""
    watch = tfmemwatch.install(sample_seconds=3600, evidence="active", log=False)
    monkeypatch.setattr(watch.state.operations, "open", lambda: None)
    yield watch
    tfmemwatch.uninstall()


def found_in(steps, step):
    with tfmemwatch.watch("loop", log=False) as block:
        for number in range(steps):
            step(number)
            block.step()
    return block


def test_a_cache_that_grows_is_named_by_emptying_it(tf, active):
    """Ever new Python numbers: no object grows, and only the cache itself can say so."""
    tf.compat.v1.enable_v2_behavior()
    if not tf.executing_eagerly():
        pytest.skip("graphs have no cache of eager numbers")
    one = tf.constant(1.0)
    block = found_in(200, lambda number: [one * (number * 10 + k + 0.5) for k in range(10)])
    assert [(one.kind, "scalar cache" in one.cause) for one in block.findings] == [("cache", True)], block.report()


def test_a_cache_that_only_works_is_not_accused(tf, active):
    """The same kernels and numbers again and again give back the same each time."""
    tf.compat.v1.enable_v2_behavior()
    one = tf.constant(1.0)
    kept = []
    block = found_in(200, lambda number: (one * float(number % 7), kept.append(bytearray(4000))))
    assert [one.kind for one in block.findings] == ["python_objects"], block.report()


def test_near_the_limit_no_evidence_is_taken(tf, active, monkeypatch):
    """A census takes memory too: with 10 MB left it would be what ends the process."""
    near = Limit("container limit", 4 << 30, (4 << 30) - (10 << 20), True)
    monkeypatch.setattr(active.state.ahead, "limits", [near])
    kept = []
    block = found_in(200, lambda number: kept.append(bytearray(8000)))
    assert block.findings == []
