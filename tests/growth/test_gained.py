"""What memory in use has gained since a moment."""

import pytest

from tfmemwatch.growth.gained import Gained


def looked(values, apart=1.0):
    """After a look at each of these values."""
    gained = Gained()
    for at, value in enumerate(values):
        gained.look(at * apart, value)
    return gained


@pytest.mark.parametrize("looks", [20, 100, 300, 1000, 50_000])
@pytest.mark.parametrize("apart", [0.1, 1.0, 60.0])
def test_what_grows_in_a_line_has_gained_as_much(looks, apart):
    """Within five percent, after any time, at any pace."""
    gained = looked([1e6 + 100 * at for at in range(looks)], apart)
    for since in (0, looks // 4, looks // 2):
        wanted = 100 * (looks - 1 - since)
        assert gained.since(since * apart, (looks - 1) * apart) == pytest.approx(wanted, rel=0.05, abs=400)


def test_what_calls_have_in_hand_is_nothing_gained():
    """50 MB at every other look, and in half of the looks two times."""
    values = [1e6 + 1000 * at + (at % 4 in (1, 2)) * 50e6 for at in range(1000)]
    assert looked(values).since(0, 999) == pytest.approx(1e6, rel=0.05)


def test_what_stood_still_before_is_left_out():
    """It is asked for from the moment on at which the growth began."""
    gained = looked([max(0, at - 500) * 1000 for at in range(1000)])
    assert gained.since(500, 999) == pytest.approx(499_000, rel=0.05)


def test_what_has_stopped_gains_nothing_more():
    """A pause of half of the time."""
    gained = looked([min(at, 500) * 1000 for at in range(1000)])
    assert gained.since(0, 999) == pytest.approx(500_000, rel=0.05)


def test_too_early_nothing_is_known():
    """Before there are two floors."""
    assert looked([]).since(0, 1) is None
    assert looked([1, 2, 3]).since(0, 3) is None


def test_it_is_bounded():
    """However long the program runs."""
    assert len(looked(range(100_000))._floors) <= 66
