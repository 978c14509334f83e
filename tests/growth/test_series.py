"""Growth is found, and what is not growth is silent."""

from __future__ import annotations

import math
import random
import sys
import timeit
from itertools import accumulate, chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemwatch.growth.rules import BYTE_SAMPLES, BYTE_STEPS, COUNT_EVENTS, COUNT_SAMPLES, COUNT_STEPS
from tfmemwatch.growth.series import Series

COUNTS = [COUNT_SAMPLES, COUNT_EVENTS, COUNT_STEPS]
BYTES = [BYTE_SAMPLES, BYTE_STEPS]
LEVEL = 300_000_000  # bytes that a program with TensorFlow holds anyhow

rules = pytest.mark.parametrize("rule", COUNTS + BYTES, ids="samples events steps bytes byte_steps".split())
counts = pytest.mark.parametrize("rule", COUNTS, ids="samples events steps".split())


def said(series, values, collected=None):
    """What the series says of the values, as (index, verdict). A collection leaves `collected`, else all."""
    news = []
    for index, value in enumerate(values):
        if not series.update(value):
            continue
        if series.verdict == "suspected" and not series.confirm(value if collected is None else collected):
            continue
        news.append((index, series.verdict))
    return news


def verdicts(rule, values, collected=None):
    return [verdict for _, verdict in said(Series(rule), values, collected)]


def found_at(rule, values):
    """Index of the first «leak», or None."""
    return next((index for index, verdict in said(Series(rule), values) if verdict == "leak"), None)


def saw(period, length, height=1):
    return [height * (index % period) for index in range(length)]


def warm_up(height, length, tau):
    return [round(height * (1 - math.exp(-index / tau))) for index in range(length)]


def noise(size, length, seed=1):
    source = random.Random(seed)
    return [source.gauss(0, size) for _ in range(length)]


# What is not growth is silent.


@rules
@given(value=st.floats(-1e12, 1e12), length=st.integers(1, 2000))
@settings(max_examples=20, deadline=None)
def test_a_constant_is_silent(rule, value, length):
    """A value that stands still is never suspected, whatever it is."""
    series = Series(rule)

    assert not any(map(series.update, repeat(value, length)))
    assert (series.verdict, series.growth) == ("quiet", None)


@rules
def test_what_falls_is_silent(rule):
    """A value that only goes down is never suspected."""
    assert verdicts(rule, range(5000, 0, -1)) == []


@counts
@given(period=st.integers(2, 24), height=st.integers(1, 1000))
@settings(max_examples=30, deadline=None)
def test_a_short_saw_tooth_of_counts_is_silent(rule, period, height):
    """Garbage that goes within 24 samples is silent, even where no collection is forced."""
    assert verdicts(rule, saw(period, 3000, height)) == []


@pytest.mark.slow
@rules
@given(period=st.integers(2, 3000))
@settings(max_examples=30, deadline=None)
def test_a_saw_tooth_of_any_period_is_silent(rule, period):
    """Garbage is silent however rarely it goes, since a forced collection takes it away."""
    assert verdicts(rule, saw(period, 9000, height=100_000), collected=0) == []


@pytest.mark.parametrize("period", [600, 1000, 2500])
def test_what_is_given_back_again_and_again_is_withdrawn_once(period):
    """A tooth that no collection takes away is said and withdrawn, and the teeth after it are silent."""
    news = verdicts(COUNT_SAMPLES, saw(period, 20 * period))

    assert news.count("released") == 1
    assert news[-1] == "released"


@rules
@pytest.mark.parametrize("seed", range(5))
def test_noise_around_a_level_is_silent(rule, seed):
    """Noise alone is never suspected."""
    assert verdicts(rule, [1000 + value for value in noise(50, 10_000, seed)]) == []


@rules
@pytest.mark.parametrize("seed", range(3))
def test_what_wanders_around_a_level_is_silent(rule, seed):
    """Noise that remembers where it was is never suspected either."""
    value, values = 0.0, []
    for push in noise(10, 10_000, seed):
        value = 0.99 * value + push
        values.append(10_000 + value)

    assert verdicts(rule, values) == []


@rules
@pytest.mark.parametrize("seed", range(5))
def test_a_random_walk_is_silent(rule, seed):
    """What goes up as often as down is never suspected, however far it gets."""
    assert verdicts(rule, accumulate(chain([1e6], noise(1000, 10_000, seed)))) == []


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shapes", [30, 100, 300])
def test_a_bounded_set_of_shapes_is_silent(shapes, seed):
    """New shapes that are met ever more rarely are no leak: the common ones come first."""
    source, met, values = random.Random(seed), set(), []
    weights = [1 / rank for rank in range(1, shapes + 1)]
    for shape in source.choices(range(shapes), weights, k=10_000):
        met.add(shape)
        values.append(len(met))

    assert verdicts(COUNT_SAMPLES, values) == []


def test_one_jump_on_a_trickle_is_silent():
    """In a loop, growth that is mostly one jump is not taken for growth."""
    assert verdicts(BYTE_STEPS, [LEVEL + 16 * index + 10**6 * (index >= 50) for index in range(100)]) == []


@pytest.mark.parametrize("rule", BYTES, ids=["samples", "steps"])
def test_large_temporaries_are_silent(rule):
    """Temporaries of any size hide nothing and raise nothing, while what lies under them is flat."""
    source = random.Random(7)

    assert verdicts(rule, [LEVEL + source.expovariate(1 / 50e6) for _ in range(10_000)]) == []


@rules
@pytest.mark.parametrize("tau", [2, 5, 10, 20])
def test_a_warm_up_is_silent(rule, tau):
    """What fills ever more slowly is no leak."""
    assert verdicts(rule, warm_up(1_000_000, 3000, tau)) == []


@rules
def test_steps_are_silent(rule):
    """A value that jumps now and then, and stands in between, is no leak."""
    assert verdicts(rule, [100 * (index // 700) for index in range(7000)]) == []


def test_a_highwater_mark_is_silent():
    """An allocator that keeps the most it ever needed is no leak."""
    source, most, values = random.Random(3), 0.0, []
    for _ in range(5000):
        most = max(most, source.lognormvariate(0, 1) * 2e6)
        values.append(LEVEL + most)

    assert verdicts(BYTE_STEPS, values) == []


@counts
@pytest.mark.parametrize("size", [4, 16, 27])
def test_a_small_cache_that_fills_is_silent(rule, size):
    """Up to 27 objects are not yet a leak for anybody."""
    assert verdicts(rule, [min(index, size) for index in range(2000)]) == []


@counts
def test_a_large_cache_that_fills_is_withdrawn(rule):
    """«Leak» is taken back with «plateau» when growth has stood still for as long as it lasted."""
    news = said(Series(rule), [min(index, 1000) for index in range(5000)])

    assert [verdict for _, verdict in news][-1] == "plateau"
    assert 1700 < news[-1][0] < 2200


# Growth is found.


@counts
@given(prefix=st.lists(st.integers(0, 500), max_size=60), slope=st.integers(1, 50))
@settings(max_examples=50, deadline=None)
def test_a_steady_tail_is_found_after_any_prefix_of_counts(rule, prefix, slope):
    """Whatever came before, what then rises at every sample is found."""
    last = prefix[-1] if prefix else 0

    assert found_at(rule, [*prefix, *range(last, last + 3000 * slope, slope)]) is not None


@pytest.mark.parametrize("rule", BYTES, ids=["samples", "steps"])
@given(prefix=st.lists(st.floats(0, 1e6), max_size=60))
@settings(max_examples=50, deadline=None)
def test_a_steady_tail_is_found_after_any_prefix_of_bytes(rule, prefix):
    """Whatever came before, what then rises by much at every sample is found."""
    last = prefix[-1] if prefix else 0

    assert found_at(rule, [*prefix, *(last + 10_000 * index for index in range(3000))]) is not None


@pytest.mark.parametrize("start", [0, 1, 7, 100, 1001])
def test_one_object_a_step_is_found_within_40_steps(start):
    """A leak in a loop is found within 40 steps of its start."""
    at = found_at(COUNT_STEPS, [max(0, index - start) for index in range(start + 60)])

    assert start <= at <= start + 40


@pytest.mark.parametrize("height, tau", [(10, 3), (50, 10), (2000, 12)])
def test_one_object_a_step_is_found_within_40_steps_of_a_warm_up(height, tau):
    """A leak in a loop is found within 40 steps, also where a warm-up came first."""
    warm = warm_up(height, 200, tau)
    values = [before + max(0, index - 99) for index, before in enumerate(warm)]

    assert 100 <= found_at(COUNT_STEPS, values) <= 140


@given(jumps=st.lists(st.tuples(st.integers(0, 90), st.integers(1, 1000)), max_size=20))
@settings(max_examples=50, deadline=None)
def test_one_object_a_step_is_found_after_any_jumps(jumps):
    """A leak in a loop is found within 40 steps, whatever was built before it began."""
    built = [sum(size for at, size in jumps if at <= index) for index in range(200)]
    values = [before + max(0, index - 99) for index, before in enumerate(built)]

    assert found_at(COUNT_STEPS, values) <= 140


@pytest.mark.parametrize("per_step, within", [(2_000, 250), (20_000, 64), (1_000_000, 64)])
def test_a_leak_of_bytes_in_a_loop_is_found(per_step, within):
    """Two kB a step are found in noise of 10 kB within 250 steps, and larger leaks within 64."""
    values = [LEVEL + per_step * index + push for index, push in enumerate(noise(10_000, 400))]

    assert found_at(BYTE_STEPS, values) <= within


def test_counts_of_one_line_need_less_evidence():
    """What is counted at one line is found in half the samples that a total needs."""
    line, total = found_at(COUNT_EVENTS, range(1000)), found_at(COUNT_SAMPLES, range(1000))

    assert line < 120 < 250 < total < 270


def test_a_leak_under_garbage_is_found():
    """Garbage that comes and goes does not hide what stays."""
    values = [index // 4 + tooth for index, tooth in enumerate(saw(30, 8000, height=50))]

    assert found_at(COUNT_SAMPLES, values) is not None


def test_a_slow_leak_is_found_at_a_coarser_scale():
    """One object in 300 samples is found, on floors that are long enough to see it."""
    assert found_at(COUNT_SAMPLES, [index // 300 for index in range(60_000)]) is not None


@rules
def test_one_dip_does_not_reset(rule):
    """A single reading far too low costs a leak some evidence and no more."""
    values = [100_000 * (10 + index) for index in range(3000)]
    dipped = [*values[:150], 0, *values[151:]]

    assert found_at(rule, dipped) <= found_at(rule, values) + 12 * rule.block


@counts
@given(shift=st.integers(-(10**6), 10**6), scale=st.integers(1, 1000), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_shifting_and_scaling_counts_change_no_verdict(rule, shift, scale, seed):
    """It does not matter where a count starts, nor what one of it weighs."""
    source = random.Random(seed)
    values = [index // 3 + source.randrange(10) for index in range(1500)]

    assert said(Series(rule), [shift + scale * value for value in values]) == said(Series(rule), values)


@given(shift=st.integers(-(10**9), 10**9), scale=st.integers(1, 1000))
@settings(max_examples=20, deadline=None)
def test_shifting_and_scaling_bytes_in_a_loop_change_no_verdict(shift, scale):
    """A loop's bytes are measured by their scatter, so the level does not matter."""
    values = [2000 * index + round(push) for index, push in enumerate(noise(5000, 400))]
    moved = [shift + scale * value for value in values]

    assert said(Series(BYTE_STEPS), moved) == said(Series(BYTE_STEPS), values)


def test_too_little_to_matter_is_silent():
    """Bytes of a service that grow by less than 2 % of the level are not worth a word."""
    assert verdicts(BYTE_SAMPLES, [LEVEL + 1000 * index for index in range(5000)]) == []


# A day has hours.


def swing(days, per_day, leak=0.0):
    return [
        1000 + 50 * math.sin(2 * math.pi * index / per_day) + leak * index / per_day for index in range(days * per_day)
    ]


def test_a_daily_swing_is_silent():
    """What rises each day and falls each night is no leak."""
    assert said(Series(BYTE_SAMPLES, limit=4000, samples_per_day=1440), swing(10, 1440)) == []


def test_a_leak_under_a_daily_swing_is_found():
    """Days that each lie above the day before are a leak, however they swing."""
    news = said(Series(BYTE_SAMPLES, limit=4000, samples_per_day=1440), swing(10, 1440, leak=30))

    assert [verdict for _, verdict in news][:1] == ["leak"]


@pytest.mark.parametrize("limit, waits", [(1e6, True), (1100, False), (None, True)])
def test_growth_waits_for_a_day_unless_the_limit_is_near(limit, waits):
    """What may be a daily swing is not said, unless memory would run out before one knew."""
    series = Series(BYTE_SAMPLES, limit=limit, samples_per_day=8640)

    assert (said(series, [1000 + index / 50 for index in range(4000)]) == []) is waits


# It is said once.


def test_a_leak_is_said_once_and_at_each_doubling():
    """The warning comes when growth is found, and again only when it has doubled."""
    news = said(Series(COUNT_SAMPLES), range(3000))
    times = [index for index, _ in news]

    assert {verdict for _, verdict in news} == {"leak"}
    assert [later / sooner for sooner, later in zip(times, times[1:])] == pytest.approx([2, 2, 2], rel=0.03)


@counts
def test_the_end_is_said_once(rule):
    """When half has come back, «released» is said, and then nothing."""
    news = verdicts(rule, [*range(400), *repeat(0, 2000)])

    assert news[0] == "leak"
    assert news.count("released") == 1
    assert news[-1] == "released"


def test_what_was_given_back_must_grow_for_twice_as_long():
    """After a release, growth is believed only when it has lasted for twice as long."""
    values = [*range(400), *range(400), *range(2000)]
    leaks = [index for index, verdict in said(Series(COUNT_SAMPLES), values) if verdict == "leak"]

    assert [index for index in leaks if 400 <= index < 800 + 780] == []
    assert leaks[-1] >= 800 + 780


def test_a_leak_after_a_plateau_is_found():
    """After a cache has filled, a leak is found like the first."""
    values = [min(index, 400) + max(0, index - 3000) for index in range(4000)]
    news = said(Series(COUNT_SAMPLES), values)

    assert [verdict for _, verdict in news] == ["leak", "plateau", "leak", "leak"]
    assert 3000 < news[2][0] < 3300


def test_garbage_waits_twice_as_long():
    """Each time that a collection takes the growth away, the next suspicion takes twice as long."""
    series, asked = Series(COUNT_STEPS), []
    for index in range(1000):
        if series.update(index):
            asked.append(index)
            assert not series.confirm(0)
            assert series.verdict == "quiet"

    assert asked == [32, 64, 128, 256, 512]


def test_an_unheard_suspicion_just_goes():
    """What was suspected, but never confirmed, is dropped without a word."""
    series = Series(COUNT_STEPS)
    news = [series.verdict for value in [*range(40), *repeat(0, 100)] if series.update(value)]

    assert news == ["suspected"]
    assert series.verdict == "quiet"


def test_confirm_is_harmless_when_nothing_is_suspected():
    """Asked out of turn, confirm() changes nothing."""
    series = Series(COUNT_STEPS)

    assert not series.confirm(5)
    assert series.verdict == "quiet"


# What it says is right.


@counts
def test_growth_says_from_where_how_fast_and_how_straight(rule):
    """A line of slope 3 from sample 1000 is told as such."""
    series = Series(rule)
    said(series, [7 + 3 * max(0, index - 1000) for index in range(1600)])
    growth = series.growth

    assert (growth.first, growth.slope, growth.bend) == (
        7,
        pytest.approx(3, rel=0.1),
        pytest.approx(0.5, abs=0.02),
    )
    assert growth.since == pytest.approx(1000, abs=8)
    assert growth.since + growth.samples == pytest.approx(1600, abs=8)


@counts
def test_growth_begins_where_it_began(rule):
    """What stood still before it grew is no part of the growth, also where it had moved earlier."""
    series = Series(rule)
    said(series, [1, 9, 1, 9, *repeat(5, 996), *range(5, 605)])

    assert series.growth.since == pytest.approx(1000, abs=8)


@pytest.mark.parametrize("period", [7, 19, 29])
def test_one_object_a_step_is_found_after_garbage(period):
    """Teeth of garbage before a leak in a loop double its delay at most."""
    values = [*saw(period, 100, height=19), *range(100, 300)]

    assert 132 <= found_at(COUNT_STEPS, values) <= 180


@pytest.mark.parametrize("seed", range(20))
def test_the_slope_is_known_within_its_error(seed):
    """The true slope lies within three standard errors of the one that is told."""
    series = Series(BYTE_STEPS)
    said(series, [LEVEL + 5000 * index + push for index, push in enumerate(noise(5000, 600, seed))])

    assert series.growth.slope == pytest.approx(5000, abs=3 * series.growth.slope_error)


def test_the_last_growth_is_still_told_when_it_is_over():
    """After a release, the growth that was is still there to be read."""
    series = Series(COUNT_STEPS)
    said(series, [*range(100), *repeat(0, 10)])

    assert series.verdict == "released"
    assert series.growth.since <= 1


@rules
def test_a_reading_that_is_no_number_is_skipped(rule):
    """A reading that could not be taken (NaN) raises nothing and hides nothing."""
    values = [math.nan if index % 50 < 20 else 100_000.0 * (10 + index) for index in range(3000)]

    assert found_at(rule, values) is not None


def test_an_unknown_way_to_combine_is_refused():
    """A rule that can't be followed says so at once."""
    with pytest.raises(ValueError, match='\'max\'; it must be "min" or "mean"'):
        Series(COUNT_SAMPLES._replace(combine="max"))


# It costs next to nothing.


def size_of(thing, seen):
    """Bytes of an object and of all that it holds."""
    if id(thing) in seen or isinstance(thing, type):
        return 0
    seen.add(id(thing))
    held = [getattr(thing, name, None) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    if isinstance(thing, (list, tuple)):
        held.extend(thing)
    return sys.getsizeof(thing) + sum(size_of(each, seen) for each in held)


def wild(index):
    return index // 50 + index * 7919 % 101


def slowing(index):
    return 10_000 * math.sqrt(index)


@rules
@pytest.mark.parametrize("value", [wild, slowing])
def test_memory_stays_constant(rule, value):
    """A series is as small after 100,000 samples as after 5,000, and no larger than 16 kB."""
    series = Series(rule, limit=1e9, samples_per_day=1440)
    sizes = []
    for index in range(100_000):
        series.update(value(index))
        if index in (5_000, 99_999):
            sizes.append(size_of(series, set()))

    assert sizes[1] < sizes[0] * 1.5
    assert max(sizes) < 16_000


def test_what_never_moves_has_no_scales():
    """A series that stands still costs less than 1 kB."""
    series = Series(COUNT_SAMPLES)
    said(series, repeat(5, 1000))

    assert size_of(series, set()) < 1000


class Last:
    """The cheapest series there could be: it remembers one value."""

    def update(self, value):
        self.value = value
        return False


def seconds(make, values):
    def feed():
        update = make().update
        for value in values:
            update(value)

    return min(timeit.repeat(feed, number=1, repeat=7))


@rules
def test_a_sample_costs_little_more_than_the_call(rule):
    """A sample costs less than a hundred calls that only store it, of some ten nanoseconds each."""
    values = [index // 3 + (7 * index) % 11 for index in range(20_000)]

    assert seconds(lambda: Series(rule), values) < 100 * seconds(Last, values)
