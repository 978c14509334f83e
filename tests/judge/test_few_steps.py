"""Counts of some exact steps: what goes on to grow is told, by the deepest cause; what comes to a stop is not."""

import pytest

from tfmemwatch.judge.few_steps import Counted, by_kind, going_on, tell
from tfmemwatch.model import Key, Site, Tally
from tfmemwatch.testing.retained import Reading, Readings, per_step

LINE, OTHER = Site("train.py", 41, "step"), Site("train.py", 7, "build")


def counted(steps, **numbers):
    """What there was when so many steps were over, by kind, all at one line."""
    rows = [(Key(kind, LINE), number) for kind, number in numbers.items()]
    return Counted(steps, {key: Tally(key, number, 0, 0, 0, 0.0, 0, "", ()) for key, number in rows})


@pytest.mark.parametrize(
    ("numbers", "grows"), [((0, 15, 30), True), ((2, 2, 32), True), ((0, 8, 8), False), ((0, 8, 10), False)]
)
def test_what_goes_on_in_the_later_half_grows(numbers, grows):
    """A warm-up, a set of shapes or a cache comes to a stop before that."""
    first, middle, last = (counted(steps, variable=number) for steps, number in zip((0, 15, 30), numbers))
    assert going_on(first, middle, last) == ({Key("variable", LINE): numbers[2] - numbers[0]} if grows else {})


def test_the_deepest_cause_is_told_once():
    """A retrace explains the function that it leaves; a model explains all that is made with it."""
    before = counted(0)
    (told,) = tell(*grown(before, counted(30, retrace=30, function_graph=30)))
    assert (told.finding.kind, told.finding.grown, told.finding.rate) == ("retrace", 30, 1.0)
    model = counted(30, model=30, variable=120, name=120)
    (told,) = tell(*grown(before, model))
    assert told.finding.kind == "model_rebuild" and by_kind(told.grown, ("variable",)) == 120


def test_what_has_no_maker_is_told_as_it_is():
    """Variables alone, seeds alone; and retraces whose functions are gone."""
    before = counted(0)
    found = [
        tell(*grown(before, counted(30, **{kind: 30})))[0].finding.kind for kind in ("variable", "seed", "retrace")
    ]
    assert found == ["variable", "cache", "retrace"]


def test_what_has_died_is_not_left_behind():
    """Variables of a graph that is made anew and dropped in each step; those of a graph that is kept are."""
    key = Key("graph_variable", LINE)
    made = Tally(key, 30, 30, 0, 0, 0.0, 0, "", ())
    assert going_on(counted(0), None, Counted(30, {key: made})) == {}
    assert going_on(counted(0), None, Counted(30, {key: made._replace(died=0)})) == {key: 30}


def grown(before, after):
    return going_on(before, None, after), before, after


def readings(*sizes):
    return [Reading(10 * number, size, {}) for number, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "each"), [
        ((0, 60, 120, 180, 240), 6.0),  # a leak
        ((0, 900, 900, 900, 900), 0.0),  # a cache that is made once
        ((0, 0, 5000, 5000, 9000), 0.0),  # blocks of a table
        ((0, 60, 9000, 9060, 9120), 6.0),  # a leak, and a block
        ((100, 0, 0, 0, 0), 0.0),
        ((0, None, None, None, None), None),
    ]
)  # fmt: skip
def test_bytes_that_stay_are_those_of_nearly_every_stretch(sizes, each):
    """What comes once, or twice, is no leak."""
    assert per_step(readings(*sizes)) == each


def test_bytes_of_counts_that_have_stopped_are_not_held_against_a_test():
    """The traces of eight shapes: stretches in which they came say nothing; the others are judged."""
    key = Key("function_graph", LINE)
    traces = [counted(steps, function_graph=number).tallies for steps, number in enumerate((0, 5, 8, 8, 8))]

    def rate(*sizes):
        return per_step([Reading(10 * at, size, traces[at]) for at, size in enumerate(sizes)], [key])

    assert rate(0, 500, 800, 800, 800) == 0 and rate(0, 500, 800, 900, 1000) == 10


def test_readings_are_spread_over_any_number_of_steps():
    """Some twenty at most, the first and the last among them; each is a garbage collection."""
    kept, taken = Readings(Reading(0, 0, {})), 0
    for steps in range(1, 2001):
        if kept.is_due(steps):
            kept.add(Reading(steps, steps, {}))
            taken += 1
    assert taken < 50 and len(kept.kept) <= 10
    assert abs(kept.middle().steps - kept.kept[-1].steps / 2) <= 260
