"""Evidence by the clock, for memory that is read in the middle of calls as often as between them."""

import math
import random

import pytest

from tfmemwatch.evidence import census, large_values
from tfmemwatch.evidence.evidence import Pace
from tfmemwatch.evidence.growing_collection import GrowingCollection
from tfmemwatch.evidence.inquiry import Inquiry
from tfmemwatch.evidence.instruments import memory_in_use
from tfmemwatch.evidence.operations import Operation
from tfmemwatch.evidence.sources import Sources
from tfmemwatch.holders.roots import Root
from tfmemwatch.holders.search import Way
from tfmemwatch.memory.process import Memory
from tfmemwatch.model import FILLING, LEAK, Site


@pytest.fixture(autouse=True)
def an_empty_program(monkeypatch):
    """It has no collections and no values; memory is what the tests say it is."""
    monkeypatch.setattr(census, "take", lambda tensor=None: census.Census({}, 0))
    monkeypatch.setattr(large_values, "large", dict)
    monkeypatch.setattr(memory_in_use, "least", lambda read: read())
    monkeypatch.setattr(memory_in_use.collector, "collect", lambda asked=False: True)


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
    inquiry = Inquiry(Sources(Operations()), Pace(0, 768 * 1024, 0.75), "hour")
    found = set()
    for look in range(2000):
        held = (100 << 20) + look * leak

        def read(held=held):  # the last of an inquiry meets a call, its first and its middle do not
            return Memory(held, held + BLOCK * high(inquiry), 0, 1000)

        inquiry.look(Memory(held, held + BLOCK * (look % 2), 0, 1000), True, float(look), read)
        found.add(inquiry.finding.kind if inquiry.finding is not None else "")
    return found - {""}


def named_at(held_at, looks):
    """The step at which memory that holds so much is named; None where it is not."""
    inquiry = Inquiry(Sources(Operations()), Pace(1000, 96 * 1024, 0.62), "step")
    for look in range(looks):
        held = (100 << 20) + int(held_at(look))
        memory = Memory(held, held, 0, 1000)
        inquiry.look(memory, True, float(look), lambda memory=memory: memory)
        if inquiry.finding is not None:
            return look
    return None


@pytest.mark.parametrize("at", range(30, 140, 10))
def test_one_jump_beside_a_leak_does_not_cost_an_inquiry(at):
    """A thread pool starts while evidence is taken: two inquiries, as a leak without a name needs, no third."""
    assert named_at(lambda look: look * 20_000 + (look >= at) * 1_500_000, 2000) <= 2 * 139 + 2 * 56 + 32


@pytest.mark.parametrize("at", [None, 40, 60, 80])
def test_what_fills_up_is_no_leak_though_it_jumps(at):
    """A cache of 4 MB that is filled by chance, and a thread pool that starts."""
    assert named_at(lambda look: 4e6 * (1 - math.exp(-look / 60)) + (look >= (at or 9999)) * 1_500_000, 3000) is None


class NewShapes(Operations):
    """One operation, called once a look, with a shape that was never seen before until `end`."""

    def __init__(self, end=math.inf):
        self.look = self.opened = 0
        self.end = end

    def open(self):
        self.opened = self.look

    def read(self):
        calls, sizes = (min(look, self.end) for look in (self.look, self.opened))
        return [Operation(Site("train.py", 7, "step"), "Softmax", self.look - self.opened, 0, 1, 1, 0,
                          max(1, int(calls - sizes)), False)]  # fmt: skip


def named_with_shapes_at(operations, held_at, looks):
    """The look at which memory that holds so much is named, and what was said to fill on the way."""
    inquiry = Inquiry(Sources(operations), Pace(1000, 96 * 1024, 0.62), "step")
    filled = set()
    for look in range(looks):
        operations.look = look
        held = (100 << 20) + int(held_at(look))
        memory = Memory(held, held, 0, 1000)
        inquiry.look(memory, True, float(look), lambda memory=memory: memory)
        filled.add(inquiry.filling)
        if inquiry.finding is not None:
            return look, filled
    return None, filled


def test_a_primitive_for_each_new_shape_is_a_cache_that_fills():
    """oneDNN keeps 33 kB for each of the first 2,000 shapes: no leak, and the report says what fills."""
    named, filled = named_with_shapes_at(NewShapes(), lambda look: 33_000 * min(look, 2000), 6000)
    assert named is None
    assert any("32.2 KiB for each new shape that train.py:7 step()" in said for said in filled)


def test_what_grows_on_when_such_a_cache_is_full_is_found():
    """Ever new shapes do not hide a leak for ever."""
    assert named_with_shapes_at(NewShapes(), lambda look: 33_000 * look, 20_000)[0] is not None


def test_what_grows_without_new_shapes_is_found_at_once():
    """The same growth where shapes are those of before is nobody's cache."""
    assert named_with_shapes_at(NewShapes(end=40), lambda look: 33_000 * look, 20_000)[0] < 600


def climbing(chances):
    """A collection that climbs where a number drawn is below the chance of that look."""
    drawn = random.Random(5)
    container = GrowingCollection(Way(Root("train"), (1,)), 1)
    for chance in chances:
        container.saw(container.last + (drawn.random() < chance))
    return container.row()


@pytest.mark.parametrize("chance", [1.0, 0.9, 0.5, 0.2])
def test_what_climbs_by_chance_at_the_same_rate_does_not_slow_down(chance):
    """A leak in some of the requests is one."""
    assert not climbing([chance] * 112).has_slowed_down


@pytest.mark.parametrize("keys", [60, 100, 150])
def test_a_cache_that_fills_by_chance_slows_down(keys):
    """Of a bounded number of keys, ever fewer are new."""
    assert climbing([math.exp(-look / keys) for look in range(20, 132)]).has_slowed_down


@pytest.mark.parametrize("times, climbs", [(1, 100), (4, 100)], ids=["once", "again and again"])
def test_what_empties_and_fills_again_grows_only_beyond_its_former_high(times, climbs):
    """Open orders that rise and fall with the hour are as many at noon as the day before; one more is growth."""
    container = GrowingCollection(Way(Root("train"), (1,)), 0)
    for _ in range(times):
        for length in [*range(1, 101), *range(100, 0, -1)]:
            container.saw(length)
    assert container.row().climbs == climbs
    container.saw(101)
    assert container.row().climbs == climbs + 1


class Failing(Operations):
    """Fails when it is to be opened, the first time."""

    def __init__(self):
        self.failed = 0

    def open(self):
        self.failed += 1
        if self.failed == 1:
            raise RuntimeError("dictionary changed size during iteration")


def test_a_failure_ends_an_inquiry_and_no_more():
    """What could not begin is not half begun: the next one finds the leak."""
    inquiry, failures = Inquiry(Sources(Failing()), Pace(1000, 96 * 1024, 0.62), "step"), 0
    for look in range(600):
        memory = Memory((100 << 20) + look * 20_000, (100 << 20) + look * 20_000, 0, 1000)
        try:
            inquiry.look(memory, True, float(look), lambda memory=memory: memory)
        except RuntimeError:
            failures += 1
    assert failures == 1
    assert inquiry.finding is not None


def at_the_end(inquiry):
    return inquiry._schedule.looks >= 100


def never(inquiry):
    return False


@pytest.mark.parametrize("high", [at_the_end, never])
def test_what_a_call_has_in_hand_is_no_leak(high):
    """50 MB that the last reading happens to meet: silent, though a little else rises."""
    assert stories(3000, high) == set()


def at_the_beginning(inquiry):
    return not 0 <= inquiry._schedule.looks < 100


def test_what_rises_slowly_behind_what_calls_have_in_hand_is_found():
    """20 kB a look, which becomes much only in time; the first reading happens to meet a call."""
    assert stories(20_000, at_the_beginning) == {"native_heap"}


@pytest.mark.parametrize("high", [at_the_end, never])
def test_what_is_kept_is_found_whatever_calls_have_in_hand(high):
    """A megabyte a look: found."""
    assert stories(1 << 20, high) == {"native_heap"}


def test_by_the_clock_what_has_no_name_is_first_told_as_what_may_fill():
    """A start-up can last for hours: it is a warning when a later inquiry has seen it go on."""
    inquiry = Inquiry(Sources(Operations()), Pace(0, 768 * 1024, 0.75), "hour")
    verdicts = []
    for look in range(4000):
        held = (100 << 20) + look * 40_000
        memory = Memory(held, held, 0, 1000)
        inquiry.look(memory, True, float(look), lambda memory=memory: memory)
        if inquiry.finding is not None and inquiry.finding.verdict not in verdicts:
            verdicts.append(inquiry.finding.verdict)
    assert verdicts == [FILLING, LEAK]


def states(held_at, looks, per="step", end=math.inf):
    """Whether there is a finding, at each step of memory that holds so much; numbers are new until `end`."""
    inquiry = Inquiry(Sources(NewNumbers(end)), Pace(1000, 96 * 1024, 0.62), per)
    found = []
    for look in range(looks):
        inquiry._instruments.operations.look = look
        held = (100 << 20) + int(held_at(look))
        memory = Memory(held, held, 0, 1000)
        inquiry.look(memory, True, float(look), lambda memory=memory: memory)
        found.append(inquiry.finding is not None)
    return found


class NewNumbers(Operations):
    """A new number at each look, until the end."""

    def __init__(self, end):
        self.look = self.opened = 0
        self.end = end

    def open(self):
        self.opened = self.look

    def read(self):
        new = max(0, min(self.look, self.end) - self.opened)
        return [Operation(Site("train.py", 7, "step"), "a conversion to a tensor", new, 0, 650 * new, 1, new, 1, False)]


@pytest.mark.parametrize("end", [60, 100, 300])
def test_in_a_block_what_has_stopped_is_over_after_as_many_steps_as_it_took(end):
    """Memory stands still from a step on: the finding goes."""
    found = states(lambda look: 20_000 * min(look, end), 1000, end=end)
    told = found.index(True)
    assert told < 100
    last = max(look for look, is_there in enumerate(found) if is_there)
    assert last <= max(end, told) + told + 40


def test_what_goes_on_is_not_over():
    """Through two thousand steps, also where it comes in bursts."""
    for held_at in (lambda look: 20_000 * look, lambda look: 20_000 * (look // 8 * 8)):
        found = states(held_at, 2000)
        assert all(found[found.index(True) :])


def test_by_the_clock_a_rest_is_no_end():
    """A program may be idle for some looks: its leak is still one."""
    found = states(lambda look: 20_000 * min(look, 100), 400, "hour")
    assert all(found[found.index(True) :])


@pytest.mark.parametrize("beside, kinds", [(False, {"native_heap"}), (True, set())])
def test_beside_what_counts_explain_nothing_is_said_of_memory_that_has_no_name(beside, kinds):
    """A function is traced again: the rest of its memory is no second leak."""
    inquiry, found = Inquiry(Sources(Operations()), Pace(1000, 96 * 1024, 0.62), "step"), set()
    for look in range(1000):
        held = (100 << 20) + look * 100_000
        memory = Memory(held, held, 0, 1000)
        inquiry.look(memory, True, float(look), lambda memory=memory: memory, beside)
        found.update(one.kind for one in inquiry.findings)
    assert found == kinds


def test_beside_what_counts_explain_new_numbers_are_found():
    """They are counted themselves."""
    operations = NewNumbers(math.inf)
    inquiry = Inquiry(Sources(operations), Pace(1000, 96 * 1024, 0.62), "step")
    for look in range(200):
        operations.look = look
        memory = Memory((100 << 20) + look * 100_000, (100 << 20) + look * 100_000, 0, 1000)
        inquiry.look(memory, True, float(look), lambda memory=memory: memory, True)
    assert [one.kind for one in inquiry.findings] == ["cache"]
