"""How a count went, in a few points."""

import pytest

from tfmemwatch.growth.history import History, plot


@pytest.mark.parametrize("length", [1, 31, 32, 33, 1000, 12345])
def test_any_length_of_time_fits_into_few_points(length):
    """At most 32, in order, from the first value to near the last."""
    trail = History()
    for value in range(length):
        trail.add(value)
    values = trail.values
    assert len(values) <= 32 and list(values) == sorted(values) and values[0] == 0
    assert values[-1] >= length - 1 - max(1, length // 8)


def test_a_straight_growth_is_a_rising_line():
    """The plot of a straight line rises from the lowest bar to the highest."""
    assert plot(range(8)) == "▁▂▃▄▅▆▇█"
    assert plot(range(1000), wide=8) == "▁▂▃▄▅▆▇█"


def test_where_there_is_nothing_to_see_there_is_no_plot():
    """A constant, and less than three points."""
    assert plot([5, 5, 5, 5]) == plot([1, 2]) == plot([]) == ""
