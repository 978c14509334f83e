"""The mixin for unittest: each test of a case is repeated, and fails when it leaks, under unittest and under pytest."""

import sys
import unittest

import pytest

import tfmemwatch
from tfmemwatch.testing import LeakFree

SIX = {"repeat": 6}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Who holds what is not looked for: that takes most of the time."""
    monkeypatch.setenv("TFMEMWATCH_EVIDENCE", "0")


@pytest.fixture
def case(fake_tf):
    """A case of three tests, of which one leaks."""
    new = fake_tf.resource_variable_ops.BaseResourceVariable
    kept, set_up = [], []

    class Case(LeakFree, unittest.TestCase):
        leak_limits = SIX

        def setUp(self):
            set_up.append(1)

        def test_leaky(self):
            kept.append(new())  # CULPRIT

        def test_clean(self):
            new()

        def test_error(self):
            self.assertEqual(1, 2)

    Case.kept, Case.set_up = kept, set_up
    return Case


def ran(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def test_a_test_that_leaks_fails(case):
    """With the line and the cure, and no frame of ours; setUp runs once, around all repeats."""
    result = ran(case)
    told = {test.id().rpartition(".")[2]: text for test, text in result.failures}
    assert set(told) == {"test_leaky", "test_error"} and result.errors == [] and result.testsRun == 3
    assert "6 variables (none allowed)" in told["test_leaky"] and "test_leak_free.py" in told["test_leaky"]
    assert "Cure: Make it once" in told["test_leaky"]
    assert not any("in again" in text for text in told.values())
    assert (len(case.kept), len(case.set_up)) == (8, 3)


def test_what_is_allowed_may_stay(case):
    """A case may have other limits, and a wrong word is an error with the nearest one."""
    case.leak_limits = {"repeat": 6, "variables": 6}
    assert [test.id().rpartition(".")[2] for test, _ in ran(case).failures] == ["test_error"]
    case.leak_limits = {"repeats": 6}
    with pytest.raises(tfmemwatch.ConfigError, match=r"Case.leak_limits has no 'repeats'; did you mean 'repeat'"):
        case("test_clean")


@pytest.mark.skipif(sys.version_info < (3, 8), reason="unittest has coroutines from Python 3.8 on")
def test_coroutines_are_awaited(fake_tf):
    """Those of IsolatedAsyncioTestCase."""
    new, kept = fake_tf.resource_variable_ops.BaseResourceVariable, []

    class Case(LeakFree, unittest.IsolatedAsyncioTestCase):
        leak_limits = SIX

        async def test_leaky(self):
            kept.append(new())

        async def test_clean(self):
            new()

    assert [test.id().rpartition(".")[2] for test, _ in ran(Case).failures] == ["test_leaky"]
