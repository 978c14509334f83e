"""A leak is told before a fifth of the free memory is gone; what ends in time is never told. On simulated time."""

import math

import pytest
from simulated import BASE, LINE, MB, Program, without_a_heap

from tfmemwatch.evidence.call_growth import Row
from tfmemwatch.growth.per_call import GrowthPerCall, Reading
from tfmemwatch.memory.stake import Stake
from tfmemwatch.monitor.by_clock import WHOLE, ByClock
from tfmemwatch.monitor.cadence import Cadence

MINUTE, HOUR, DAY = 60, 3600, 86400
ROOM = 2000 * MB  # that is free when the growth begins
BEGINS = 300  # seconds after the start


@pytest.fixture(autouse=True)
def no_heap(monkeypatch):
    without_a_heap(monkeypatch)


def leak(kinds, each, seconds_to_limit):
    """A program that uses up its room in so long, by things of `each` bytes that are counted as these kinds."""

    def number(now):
        return max(0.0, now - BEGINS) / seconds_to_limit * ROOM // each

    return Program(
        lambda now: number(now) * each, lambda now: {kind: number(now) for kind in kinds}, BASE + ROOM,
    )  # fmt: skip


def share_when_named(program, seconds_to_limit):
    """Of the room, used up at the first warning."""
    program.run(BEGINS + seconds_to_limit)
    assert program.warnings, "not named before the end"
    now, finding = program.warnings[0]
    return program.held(now) / ROOM, finding


KINDS = {
    "retrace": (("retrace", "function_graph"), MB // 4),
    "session_unclosed": (("session",), 2 * MB),
    "model_rebuild": (("model", "variable", "name"), 3 * MB),
    "variable": (("variable",), MB),
    "cache": (("seed",), 36000),
    "native_heap": ((), MB // 5),
}


CASES = [(kind, seconds) for kind in KINDS for seconds in (MINUTE, 5 * MINUTE, HOUR, DAY)]
QUICK = [("retrace", MINUTE), ("session_unclosed", HOUR), ("native_heap", MINUTE)]


@pytest.mark.parametrize(
    "kind, seconds", QUICK + [pytest.param(*case, marks=pytest.mark.slow) for case in CASES if case not in QUICK]
)
def test_a_leak_is_named_before_a_fifth_of_the_free_memory_is_gone(kind, seconds):
    """However fast it is, if it takes a minute or more to the limit; at default settings."""
    kinds, each = KINDS[kind]
    share, finding = share_when_named(leak(kinds, each, seconds), seconds)
    assert finding.kind == kind
    assert share <= 0.2


def test_what_is_told_early_says_so():
    """The sentence has the share that is gone, and when the limit is reached."""
    _, finding = share_when_named(leak(("session",), 2 * MB, 5 * MINUTE), 5 * MINUTE)
    assert "told early: it has taken 1" in str(finding)
    assert "container limit is reached in" in str(finding)


def test_a_rate_is_by_the_clock_that_really_passed():
    """Whatever the pauses between the looks were: 1,000 things in five minutes are 12,000 an hour."""
    _, finding = share_when_named(leak(("session",), 2 * MB, 5 * MINUTE), 5 * MINUTE)
    assert finding.rate == pytest.approx(12000, rel=0.1)
    assert finding.since == pytest.approx(BEGINS, abs=10)


def models_loaded(now, number=200, seconds=600):
    return min(number, number * now / seconds)


INNOCENTS = {
    "200 models loaded in ten minutes": (
        lambda now: 10 * MB * int(models_loaded(now)),
        lambda now: {kind: int(models_loaded(now)) for kind in ("model", "variable", "name")},
    ),
    "a cache that fills by chance in 20 minutes": (
        lambda now: 400 * MB * (1 - math.exp(-now / 400)), None,
    ),
    "a replay buffer that is full after 20 minutes": (lambda now: 600 * MB * min(1, now / 1200), None),
    "an epoch that is cached in five minutes": (lambda now: 1000 * MB * min(1, now / 300), None),
    "100 shapes warmed up in five minutes": (
        lambda now: MB * int(min(100, now / 3)),
        lambda now: {kind: int(min(100, now / 3)) for kind in ("retrace", "function_graph")},
    ),
    "100 shapes warmed up in five seconds": (
        lambda now: MB * int(min(100, now * 20)),
        lambda now: {kind: int(min(100, now * 20)) for kind in ("retrace", "function_graph")},
    ),
    "a thread pool, one thread a second": (lambda now: 8 * MB * int(min(64, now)), None),
    "a daily swing": (lambda now: 400 * MB * (1 - math.cos(2 * math.pi * now / DAY)), None),
    "an hourly swing": (lambda now: 400 * MB * (1 - math.cos(2 * math.pi * now / HOUR)), None),
    "a saw-tooth of ten minutes": (lambda now: MB * (now % 600), None),
    "a saw-tooth of two seconds": (lambda now: 100 * MB * (now % 2), None),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(INNOCENTS))
def test_what_ends_in_time_is_no_warning(name):
    """A start-up of ten minutes, what fills in twenty, what swings: nothing, where memory does not end meanwhile."""
    held, counts = INNOCENTS[name]
    program = Program(held, counts, BASE + 16000 * MB).run(2 * HOUR, until_warned=False)
    assert [str(one) for _, one in program.warnings] == []


@pytest.mark.slow
@pytest.mark.parametrize("held", [lambda now: 0.0, lambda now: 100 * MB * (now % 2), lambda now: 1000.0 * now])
def test_looks_are_seldom_where_nothing_is_at_stake(held):
    """What stands still, swings, or lasts for weeks: one look each five seconds, and few between."""
    program = Program(held, None, BASE + 16000 * MB).run(HOUR)
    assert program.looks <= HOUR / 5 + 1
    assert program.between <= 2 * program.looks


@pytest.mark.parametrize("held", [lambda now: 0.0, lambda now: 50 * MB * (now % 2), lambda now: 1000.0 * now])
def test_where_nothing_rises_there_is_one_glance_between_two_looks(held):
    """Nor for what swings by little of what is left: the thread is woken twice in five seconds."""
    program = Program(held, None, BASE + 16000 * MB).run(600)
    assert program.glances <= 1.2 * program.looks


@pytest.mark.parametrize("still_seconds", [300, 301.3, 302.7, 304.1])
def test_a_rise_after_long_stillness_is_looked_at_within_a_twelfth_of_a_minute_to_the_limit(still_seconds):
    """Whenever it begins, seen from the glances."""

    def held(now):
        return ROOM * max(0.0, now - still_seconds) / MINUTE

    program = Program(held, None, BASE + ROOM).run(still_seconds + MINUTE / 12)
    assert program.between


def test_what_swings_and_is_seen_seldom_is_no_rise():
    """Glances that meet each swing a little later see a straight line, and mean nothing."""
    cadence, now, rises = Cadence(5.0), 0.0, []
    while now < 600:
        cadence.glance(now, BASE + 25 * MB * (now % 2), 16000 * MB)
        rises += [cadence.rise(16000 * MB)] if now > 60 else []
        now += cadence.glance_seconds
    assert rises and not any(rises)


def test_no_pause_is_shorter_than_a_hundredth_of_the_longest():
    """Who wants few looks gets few."""
    program = leak(("session",), 2 * MB, MINUTE)
    program.config = program.config._replace(sample_seconds=600.0)
    program.run(BEGINS + MINUTE, until_warned=False)
    assert program.looks + program.between <= (BEGINS + MINUTE) / 6 + 1


def retraces(every, endless=True, most=math.inf):
    """A program that traces once in so many seconds; from the twelfth on it is known that this has no end."""

    def number(now):
        return min(most, max(0.0, now - BEGINS) // every)

    program = Program(lambda now: number(now) * MB / 4,
                      lambda now: {kind: number(now) for kind in ("retrace", "function_graph")},
                      BASE + 16000 * MB)  # fmt: skip
    program.is_endless = lambda now: endless and number(now) >= 12
    return program


@pytest.mark.parametrize("every", [1, 60, pytest.param(600, marks=pytest.mark.slow)])
def test_retraces_that_have_no_end_are_told_at_the_twelfth(every):
    """In a program of any pace: a Python float that is new each time needs no statistics."""
    program = retraces(every).run(BEGINS + 30 * every + 60)
    now, finding = program.warnings[0]
    assert (finding.kind, finding.grown >= 12) == ("retrace", True)
    assert now - BEGINS <= 12 * every + 60
    assert finding.rate == pytest.approx(3600 / every, rel=0.25)


@pytest.mark.slow
def test_retraces_that_end_are_over():
    """After as long a time as a third of that for which they came."""
    program = retraces(10, most=30).run(BEGINS + 3600, until_warned=False)
    assert [one.state for _, one in program.told if one.is_sure] == ["leak", "leak", "over"]


@pytest.mark.slow
def test_retraces_that_may_end_are_no_warning_so_soon():
    """Shapes, integers and objects may come from a set that is soon complete."""
    assert retraces(10, endless=False, most=30).run(BEGINS + 3600, until_warned=False).warnings == []


def test_a_leak_that_was_told_early_goes_on_as_one_finding_at_ever_fewer_looks():
    """When it slows down it is neither over nor told by another name, and the watch costs what it did before."""

    def held(now):
        return 400 * MB * min(1, now / 60) + MB // 2 * max(0, now - 60)

    program = Program(held, lambda now: {"session": held(now) // MB}, BASE + 2000 * MB).run(900, until_warned=False)
    assert {(one.kind, one.state) for _, one in program.warnings} == {("session_unclosed", "leak")}
    assert not [one for _, one in program.told if one.state == "over"]
    before = program.between
    program_longer = Program(held, program.counts_at, BASE + 2000 * MB).run(1500, until_warned=False)
    assert program_longer.between - before <= 900


def test_growth_that_stops_soon_after_it_was_told_early_is_over():
    """A cache that was as large as 15 % of what was free."""

    def held(now):
        return 300 * MB * min(1, now / 60)

    program = Program(held, lambda now: {"variable": held(now) // MB}, BASE + 2000 * MB).run(1200, until_warned=False)
    states = [one.state for _, one in program.told if one.is_sure]
    assert states[-1:] == ["over"]


@pytest.mark.parametrize("most, told", [(math.inf, 1), (300, 0)])
def test_hundreds_of_retraces_that_go_on_with_the_calls_are_told_soon(most, told):
    """By the calls of the function: 500 shapes in two minutes are no warm-up, and nothing waits for ten minutes."""

    def traces(now):
        return min(most, 4 * max(0.0, now - BEGINS))

    program = Program(
        lambda now: MB // 4 * traces(now),
        lambda now: {"retrace": traces(now), "function_graph": traces(now), "call": 8 * now},
        BASE + 16000 * MB,
    ).run(BEGINS + 150)
    assert len(program.warnings) == told


def test_looks_at_everything_are_even():
    """A day has as many as it should, whatever a look or a glance takes: days are compared hour by hour."""
    program = Program(lambda now: 0.0)
    clock = ByClock(program, Stake())
    for _ in range(10000):
        if clock.due(program.now, BASE) == WHOLE:
            clock.look(program.now)
            program.looks += 1
            program.now += 0.2  # that it has taken
        program.now += clock.pause(program.now) + 0.013
    assert program.looks == pytest.approx(program.now / 5, abs=2)


def test_the_program_has_its_turn_however_long_looks_take():
    """Where a look takes longer than the pause, half the pause is kept."""
    program = Program(lambda now: 0.0, sample_seconds=0.05)
    clock = ByClock(program, Stake())
    clock.look(1.0)
    assert clock.pause(9.0) == pytest.approx(0.025)


def test_models_that_were_loaded_are_not_accused_of_what_takes_memory_after_them():
    """A hundred models in half a minute, then a buffer that takes a fifth of what was free."""

    def models(now):
        return min(120, 5 * max(0.0, now - BEGINS))

    program = Program(
        lambda now: 1.4 * MB * models(now) + 400 * MB * min(1, max(0.0, now - BEGINS - 25) / 30),
        lambda now: {kind: models(now) for kind in ("model", "variable", "name")},
        BASE + ROOM,
    ).run(BEGINS + 600, until_warned=False)
    assert not {one.kind for _, one in program.warnings} & {"model_rebuild", "cache", "variable"}


def test_what_calls_leave_in_native_memory_is_found_though_memory_swings_as_if_it_ended_soon():
    """While it is looked at often, for what would end soon, the calls are judged as before."""
    rise = GrowthPerCall()

    def held(now):
        return 5 * MB * (now % 60)

    program = Program(held, limit=BASE + 2000 * MB, sample_seconds=1.0)

    def calls():
        number = range(rise.readings + 1, int(2 * program.now))
        rise.add(Reading(64 * one, 64000 * one) for one in number)
        return [Row(LINE, "Net net.__call__", rise)]

    program.calls = calls
    program.run(40)
    assert program.between > 20
    assert [(finding.kind, finding.site) for _, finding in program.told] == [("native_heap", LINE)]
