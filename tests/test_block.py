"""A block never raises into the loop that it watches, whatever becomes of the watch."""

import pytest

import tfmemwatch
from tfmemwatch import guard
from tfmemwatch.examiner import Examiner


def fail(*args, **kwargs):
    raise ValueError("ours, not theirs")


@pytest.fixture
def failures(monkeypatch):
    found = {}
    monkeypatch.setattr(guard, "failures", found)
    return found


def test_a_look_that_fails_does_not_end_the_loop(failures, monkeypatch):
    """The loop goes on, and the failure is counted and told once."""
    monkeypatch.setattr(Examiner, "look", fail)
    with tfmemwatch.watch("suspect", log=False) as block:
        for _ in range(3):
            block.step()
    assert block.steps == 3
    assert failures == {"block: step": 3}


def test_an_end_that_fails_hides_no_exception_and_leaves_nothing_installed(failures, monkeypatch):
    """What the program raises comes out, not what we raise on the way."""
    monkeypatch.setattr(Examiner, "sum_up", fail)
    with pytest.raises(KeyError), tfmemwatch.watch("suspect", log=False) as block:
        block.step()
        raise KeyError("theirs")
    assert failures == {"block: end": 1}
    assert not block._watch.is_running
