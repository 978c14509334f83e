"""Evidence by the clock, for memory that is read in the middle of calls as often as between them."""

import pytest

from tfmemwatch.inquiry import Inquiry, Pace
from tfmemwatch.memory import Memory

BLOCK = 50 << 20  # what a call takes, and gives back


class Operations:
    """None were run."""

    is_open, covered = False, 1.0

    def open(self):
        pass

    close = go_on = open

    def read(self):
        return []


def stories(leak, high):
    """The kinds of what is found in 2,000 looks, where so much a look is kept; `high` says when a call runs."""
    inquiry = Inquiry(Operations(), list, list, Pace(0, 768 * 1024, 0.75), "hour")
    found = set()
    for look in range(2000):
        held = (100 << 20) + look * leak

        def read(held=held):  # the last of an inquiry meets a call, its first and its middle do not
            return Memory(held, held + BLOCK * high(inquiry), 0, 1000)

        inquiry.look(Memory(held, held + BLOCK * (look % 2), 0, 1000), True, float(look), read)
        found.add(inquiry.finding.kind if inquiry.finding is not None else "")
    return found - {""}


def at_the_end(inquiry):
    return inquiry._looks >= 100


def never(inquiry):
    return False


@pytest.mark.parametrize("high", [at_the_end, never])
def test_what_a_call_has_in_hand_is_no_leak(high):
    """50 MB that the last reading happens to meet: silent, though a little else rises."""
    assert stories(3000, high) == set()


@pytest.mark.parametrize("high", [at_the_end, never])
def test_what_is_kept_is_found_whatever_calls_have_in_hand(high):
    """A megabyte a look: found."""
    assert stories(1 << 20, high) == {"native_heap"}
