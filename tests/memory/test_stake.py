"""How much of the memory that was free has been used since some time."""

import pytest

from tfmemwatch.memory.limits import Limit
from tfmemwatch.memory.stake import NOTHING, Stake

MB = 1 << 20


def container(used):
    return Limit("container limit", 1000 * MB, used, True)


def machine(used):
    return Limit("memory of this machine", 1000 * MB, used, False)


def used(*moments):
    """Since the first of these: own bytes, and the limits."""
    stake = Stake()
    for second, (own, *limits) in enumerate(moments):
        stake.look(float(second), own, limits)
    return stake.used_since(0.0)


def test_it_is_the_share_of_what_was_free_then():
    """200 of 800 MB; what is left lasts three times as long as that took."""
    found = used((200 * MB, container(200 * MB)), (400 * MB, container(400 * MB)))
    assert (found.share, found.seconds, found.limit) == (pytest.approx(0.25), pytest.approx(3.0), "container limit")


def test_workers_that_grow_together_use_up_their_container_together():
    """Four of them: the share is that of all."""
    found = used((50 * MB, container(200 * MB)), (100 * MB, container(400 * MB)))
    assert found.share == pytest.approx(0.25)


@pytest.mark.parametrize("limit", [container, machine])
def test_what_others_take_is_no_growth_of_this_process(limit):
    """Another process of the container, or of the machine, takes 300 MB; this one a megabyte."""
    found = used((50 * MB, limit(200 * MB)), (51 * MB, limit(500 * MB)))
    assert found.share == pytest.approx(1 / 800)


def test_a_limit_that_is_set_anew_counts_from_then():
    """A container is resized while it runs: 200 of the 800 MB that were free then."""
    before = container(100 * MB)._replace(bytes=5000 * MB)
    found = used(
        (100 * MB, before), (200 * MB, container(200 * MB)), (400 * MB, container(400 * MB)),
    )  # fmt: skip
    assert found.share == pytest.approx(0.25)


def test_what_is_not_known_is_nothing():
    """One reading, no limit, or memory that cannot be read."""
    assert used((MB, container(MB))) == NOTHING
    assert used((MB,), (2 * MB,)) == NOTHING
    assert used((None, container(MB)), (None, container(2 * MB))) == NOTHING


def test_a_week_is_remembered_in_little():
    """The older moments the more seldom; the first one stays."""
    stake = Stake()
    for second in range(100000):
        stake.look(float(second), second * MB, [Limit("container limit", 10**12, second * MB, True)])
    assert len(stake._moments) <= 256
    assert stake.used_since(0.0).after == 99999
    assert stake.used_since(99990.0).after == pytest.approx(9, abs=2)
