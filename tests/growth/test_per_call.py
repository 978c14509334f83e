"""What a call leaves behind is estimated with an error that can be believed."""

import math
import random

import pytest

from tfmemwatch.growth.per_call import BytesPerCall


def after(stretches, leak, noise, calls=100, seed=0):
    dice = random.Random(seed)
    retained = BytesPerCall()
    level = 0.0
    for _ in range(stretches):
        before, level = level, dice.gauss(0, noise)
        retained.add(calls, int(leak * calls + level - before))
    return retained


def test_a_leak_of_a_kilobyte_is_seen_through_noise_of_a_megabyte():
    """Memory goes up and down by a megabyte from reading to reading; 1 kB a call stays."""
    retained = after(stretches=200, leak=1000, noise=1e6)
    assert retained.per_call == pytest.approx(1000, rel=0.25)
    assert abs(retained.per_call - 1000) <= 3 * retained.error


@pytest.mark.parametrize("seed", range(10))
def test_what_leaks_nothing_is_nothing_within_its_error(seed):
    """No growth is claimed that the scatter could have made."""
    retained = after(stretches=100, leak=0, noise=1e5, seed=seed)
    assert abs(retained.per_call) <= 3 * retained.error


def test_the_first_calls_do_not_count():
    """They build weights and trace: 50 MB in the first stretch are no leak."""
    retained = BytesPerCall()
    retained.add(32, 50_000_000)
    retained.add(32, 1_000_000)
    for _ in range(10):
        retained.add(32, 0)
    assert (retained.per_call, retained.error) == (0.0, 0.0)


def test_little_is_known_after_little():
    """An estimate from two stretches has no error to speak of, so it is not told."""
    assert after(stretches=4, leak=100, noise=0).error == math.inf
