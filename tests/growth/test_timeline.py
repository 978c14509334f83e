"""Looks are numbered, and need not be evenly apart."""

import pytest

from tfmemwatch.growth.timeline import Timeline


@pytest.mark.parametrize("looks", [10, 511, 512, 513, 5000])
def test_the_time_of_any_look_is_known_in_little_memory(looks):
    """Seldom at first, then often: each to within its neighbours."""
    timeline, times, now = Timeline(), [], 0.0
    for look in range(looks):
        now += 5.0 if look < looks // 2 else 0.05
        timeline.add(now)
        times.append(now)
    apart = 1 + looks // 256
    for look in range(0, looks, 7):
        assert times[max(0, look - apart)] <= timeline.at(look) <= times[min(looks - 1, look + apart)]
    assert timeline.at(looks - 1) == timeline.at(looks + 9) == now
    assert len(timeline._times) <= 512


def test_before_the_first_look_there_is_no_time():
    """Nor an error."""
    assert Timeline().at(3) == 0.0
