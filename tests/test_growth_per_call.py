"""What calls of a model leave: judged by the calls, and told only where nothing of Python's grows with it."""

import random

import pytest

from tfmemwatch.evidence import call_growth
from tfmemwatch.evidence.call_growth import CallGrowth, Row
from tfmemwatch.evidence.operations import Operation
from tfmemwatch.growth.per_call import GrowthPerCall, Reading
from tfmemwatch.model import Site

APART = 64
AT = Site("serve.py", 31, "handle")
KB, MB = 1 << 10, 1 << 20
kept = []


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    """Each of these programs is small; what all other tests have left is counted with it all the same."""
    monkeypatch.setattr(call_growth.heap_size, "too_large", lambda *most: "")
    yield
    del kept[:]


class Window:
    """Stands for a window on eager operations."""

    def __init__(self, rows=()):
        self.rows, self.is_open = list(rows), False

    def open(self):
        self.is_open = True

    def close(self):
        self.is_open = False

    def read(self):
        return self.rows


def marks(leaves, calls, first=0):
    return [Reading(call, int(leaves(call))) for call in range(first + APART, first + calls + 1, APART)]


def risen(leaves, calls):
    rise = GrowthPerCall()
    rise.add(marks(leaves, calls))
    return rise


def noisy(a_call, noise, seed=0):
    dice = random.Random(seed)
    return lambda call: a_call * call + dice.gauss(0, noise)


def test_a_kilobyte_a_call_is_suspected_within_3000_calls():
    """Through noise of some kilobytes from reading to reading."""
    assert risen(noisy(KB, 8 * KB), 3000).is_suspected
    assert risen(noisy(KB, 8 * KB), 3000).per_call == pytest.approx(KB, rel=0.1)


def test_a_warm_up_does_not_hide_it():
    """3 MB in the first 500 calls, then 1 kB a call."""
    assert risen(lambda call: 6 * KB * min(call, 500) + KB * call, 4000).is_suspected


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "leaves",
    [
        lambda call, dice: dice.gauss(0, 5 * MB),  # temporaries of other threads
        lambda call, dice: 20 * MB * (1 - 0.999**call),  # a cache that fills
        lambda call, dice: 20 * KB * min(call, 1000),  # one of a thousand entries
        lambda call, dice: KB * (call % 1900),  # freed at the end of each epoch
        lambda call, dice: 500 * call,  # too little a call
    ],
)
def test_what_ends_is_not_suspected(leaves, seed):
    """Not in 100,000 calls."""
    dice = random.Random(seed)
    rise = GrowthPerCall()
    for mark in marks(lambda call: leaves(call, dice), 100000):
        rise.add([mark])
        assert not rise.is_suspected


def looked(window, during=lambda: None, calls=1024, unexplained=True):
    """What is found of a leak of 1 kB a call, while the program does something."""
    case = CallGrowth(window, lambda: None)
    rise = risen(lambda call: KB * call, 3200)
    rows = [Row(AT, "Net net.__call__", rise)]
    case.look(rows, unexplained)
    for _ in range(calls):
        during()
    rise.add(marks(lambda call: KB * call, calls, first=3200))
    news = case.look(rows, unexplained)
    assert window.is_open is False
    assert news is bool(case.leaking)
    return case.leaking


def test_what_nothing_in_python_explains_is_told():
    """With the line and what each call leaves."""
    (row,) = looked(Window())
    assert row.site == AT
    assert row.cause.startswith("each call of Net net.__call__ leaves about 1 KiB")


def test_a_list_that_grows_is_the_inquirys():
    """A large piece now and then is next to nothing among Python's blocks, and yet Python's."""
    kept.extend(range(3))
    turns = iter(range(10**6))
    assert looked(Window(), lambda: next(turns) % 256 or kept.append(b"x" * 256 * KB)) == []


def test_objects_that_become_more_are_the_inquirys():
    """Each in another place: no collection has them all."""
    assert looked(Window(), lambda: kept.append([[object()]]) if len(kept) < 2 else kept[-1].append([[]])) == []


def test_an_operation_that_is_ever_new_is_the_inquirys():
    """A cache of TensorFlow's grows, and has a name of its own."""
    new = Operation(AT, "RandomUniform", 768, 0, 768 * KB, 768, 0, 1, False)
    same = Operation(AT, "MatMul", 768, 0, 0, 1, 0, 1, False)
    assert looked(Window([same, new])) == []
    assert len(looked(Window([same, new._replace(signatures=1)]))) == 1


def test_what_a_count_explains_is_not_looked_into():
    """It has its name already."""
    assert looked(Window(), unexplained=False) == []


def test_before_enough_calls_nothing_is_said():
    """Two looks with some calls between them are no evidence."""
    case = CallGrowth(Window(), lambda: None)
    rise = risen(lambda call: KB * call, 3200)
    rows = [Row(AT, "Net net.__call__", rise)]
    case.look(rows, True)
    rise.add(marks(lambda call: KB * call, call_growth._LEAST_CALLS - APART, first=3200))
    assert not case.look(rows, True) and not rise.is_leak
    case.stop()


def test_another_try_waits_for_twice_as_many_calls():
    """Where something else explained it, the heap is not looked through at each look."""
    window = Window([Operation(AT, "Cast", 2000, 0, 0, 2000, 0, 1, False)])
    case = CallGrowth(window, lambda: None)
    rise = risen(lambda call: KB * call, 3200)
    begun = 0
    for number in range(50):
        was_open = window.is_open
        case.look([Row(AT, "Net net.__call__", rise)], True)
        begun += window.is_open and not was_open
        rise.add(marks(lambda call: KB * call, 640, first=3200 + 640 * number))
    assert begun <= 5
    case.stop()
