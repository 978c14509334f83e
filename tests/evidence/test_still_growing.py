"""A finding whose growth has stopped is over: how that is known, by what it has counted."""

import pytest

from tfmemwatch.evidence.still_growing import of_bytes, of_items, of_tensors


def stopped_at(make, values):
    """The look at which it is said that these values have stopped growing; None where it is not."""
    now = iter(values)
    current = [next(now)]
    still = make(lambda: current[0])
    for look, value in enumerate(now, 1):
        current[0] = value
        if still.has_stopped():
            return look
    return None


def items(count):
    return of_items(80, count)


def tensors(count):
    return of_tensors(80, count, 100)


def size(count):
    return of_bytes(80, count, 1.0)


@pytest.mark.parametrize("make", [items, tensors, size])
def test_what_goes_on_is_not_over(make):
    """One more at each look."""
    assert stopped_at(make, range(1000, 3000)) is None


@pytest.mark.parametrize("make", [items, tensors, size])
@pytest.mark.parametrize("end", [0, 30, 200])
def test_what_has_stopped_is_over_after_as_many_looks_as_it_took(make, end):
    """And at most half as many more, since it is counted now and then."""
    assert end + 40 <= stopped_at(make, [1000 + min(look, end) for look in range(1000)]) <= end + 120


def test_a_list_that_is_cut_and_filled_again_is_over():
    """It is never longer than it was."""
    assert stopped_at(items, [50 + look % 50 for look in range(1000)]) <= 200


def test_a_leak_of_one_item_now_and_then_is_not_over():
    """In one look out of twenty."""
    assert stopped_at(items, [look // 20 for look in range(1000)]) is None


def test_a_few_tensors_more_or_less_are_noise():
    """A step has some in hand."""
    assert stopped_at(tensors, [500 + look % 5 for look in range(1000)]) is not None


def test_what_is_where_it_was_no_more_says_nothing():
    """Another may have its place: memory must say."""
    assert stopped_at(items, [100, *[None] * 500]) is None
