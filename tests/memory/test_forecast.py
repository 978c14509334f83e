"""The time to a limit: from growth only, with a range, and never where nothing grows."""

import math
import random

import pytest

from tfmemwatch.memory import forecast
from tfmemwatch.memory.forecast import Trend, outlook, span_of

MIB = 1 << 20
EACH = 5.0  # seconds between two readings


def trend(value, readings, begin=0):
    """A trend that has read `value` at each number."""
    found = Trend()
    for number in range(begin, begin + readings):
        found.update(number * EACH, value(number))
    return found


def noise(size, seed=1):
    chance = random.Random(seed)
    return lambda: chance.uniform(0, size)


def test_a_steady_leak_has_its_time_to_the_limit():
    """1 MiB a reading with 3,600 MiB to go: 5 hours, and the truth lies in the range."""
    found = outlook("container limit", 4096 * MIB, 3600 * MIB, trend(lambda number: (496 + number) * MIB, 300).slope())
    assert found.seconds == pytest.approx(3600 * EACH, rel=0.01)
    assert found.soonest_seconds <= found.seconds <= found.latest_seconds


def test_under_noise_the_truth_lies_in_the_range():
    """50 MiB of noise on 0.2 MiB a reading: the range covers the truth, and is no wider than twice it."""
    jitter = noise(50)
    found = trend(lambda number: (500 + 0.2 * number + jitter()) * MIB, 6000).slope()
    assert found.least <= 0.2 * MIB / EACH <= found.most
    assert found.most < 2 * found.least


@pytest.mark.parametrize(
    "value",
    [
        lambda number: 500.0,
        lambda number: 500 + number % 2,
        lambda number: 900 - 0.1 * number,
        lambda number: 500 + 100 * math.sin(number / 30.0),
        lambda number: 500 + 2 * (number % 200),
        lambda number: 500 + 2 * (number % 37),
        lambda number: 500 + 300 * (1 - math.exp(-number / 200.0)),
        lambda number: 500 + 50 * math.log(1 + number),
        lambda number: 500 + (300 if number > 150 else 0),
    ],
    ids="flat toggling falling waves saw_tooth short_saw_tooth start_up logarithm step".split(),
)
@pytest.mark.parametrize("readings", [600, 2500])
def test_what_does_not_go_on_to_grow_has_none(value, readings):
    """Flat, falling, up and down, a start-up, a step: no time is told, and never a negative one."""
    assert trend(lambda number: value(number) * MIB, readings).slope() is None


def test_a_start_up_that_is_straight_has_none():
    """Five minutes of loading, then nothing: it is not taken for a leak while it lasts, nor afterwards."""
    found = Trend()
    for number in range(400):
        found.update(number * EACH, (100 + 30 * min(number, 60)) * MIB)
        assert found.slope() is None


def test_a_leak_after_a_week_of_nothing_is_seen_within_minutes():
    """The fine scales forget what was before."""
    week = int(7 * 24 * 3600 / EACH)
    found = trend(lambda number: (500 + max(0, number - week + 200)) * MIB, week)
    assert found.slope().most_likely == pytest.approx(MIB / EACH, rel=0.05)


def test_when_the_growth_stops_the_forecast_goes():
    """Within a quarter of the time that it grew."""
    found = trend(lambda number: (500 + number) * MIB, 400)
    assert found.slope() is not None
    for number in range(400, 500):
        found.update(number * EACH, 900 * MIB)
    assert found.slope() is None


def test_memory_is_constant():
    """A million readings are kept as a few hundred numbers."""
    found = trend(float, 100000)
    assert sum(len(floors) for floors in found._floors) <= forecast.SCALES * forecast.KEPT
    assert sum(len(some) for some in found._gathered) <= forecast.SCALES * max(forecast.BLOCK, forecast.FAN)


def test_it_is_said_as_a_person_says_it():
    """Hours and minutes, the range in brackets, the limit as it was set."""
    found = forecast.Outlook("container limit", 4 << 30, 11400.0, 9600.0, 14400.0, 1.0)
    exact = found._replace(soonest_seconds=11400.0, latest_seconds=11400.0)
    assert str(exact).endswith("is reached in 3 h 10 min")
    assert str(found) == "at this rate the container limit of 4 GiB is reached in 3 h 10 min (2 h 40 min – 4 h)"
    spans = [span_of(seconds) for seconds in (5, 300, 250, 5000, 86400, 864000)]
    assert spans == ["5 s", "5 min", "4 min 10 s", "83 min", "24 h", "10 days"]


def test_a_limit_that_is_passed_is_reached_now():
    """Never a negative time."""
    slope = forecast.Slope(1.0, 2.0, 3.0)
    assert outlook("limit", 100, 0, slope).seconds == 0
    assert outlook("limit", 100, -5, slope) is None
    assert outlook("limit", 100, 50, None) is None
