"""From counts to findings: one cause, one finding, one line."""

import re
from collections import namedtuple

import pytest

from tfmemwatch.growth.rules import COUNT_EVENTS, COUNT_SAMPLES, COUNT_STEPS
from tfmemwatch.judge.judge import Judge
from tfmemwatch.judge.measured import MeasuredBytes
from tfmemwatch.model import UNKNOWN, Key, Site, Tally

LOOP = Site("train.py", 10, "main")
INNER = Site("layers.py", 20, "build")
FAR = Site("other.py", 30, "elsewhere")
STEPS = 60

Made = namedtuple("Made", "kind site each died size order note")


def made(kind, site=LOOP, each=1, died=0, size=0, order=0, note="step"):
    """So many of a kind made in each step, and so many of them gone again."""
    return Made(kind, site, each, died, size, order, note)


def tallies(rows, step):
    """The counts after so many steps."""
    return {
        Key(row.kind, row.site): Tally(
            Key(row.kind, row.site), int(row.each * step), row.died * step, row.size * step, row.size * step, 0.0,
            row.order, row.note, (),
        )
        for row in rows
    }  # fmt: skip


def judged(*rows, steps=STEPS, confirmed=True):
    """What is found when this is made in each of so many steps."""
    judge = Judge(COUNT_STEPS, "step")
    judge.look({}, 0)
    for step in range(1, steps + 1):
        counts = tallies(rows, step)
        judge.look(counts, step)
        if judge.suspects():
            judge.confirm(counts if confirmed else {})
    return [draft.finding for draft in judge.drafts(tallies(rows, steps))]


@pytest.mark.parametrize(
    "kind, told",
    [
        ("variable", "variable"),
        ("session", "session_unclosed"),
        ("graph", "graph_growth"),
        ("graph_op", "graph_growth"),
        ("iterator", "dataset_iterator"),
        ("tape", "tape"),
        ("custom_gradient", "graph_growth"),
        ("function_graph", "function_library"),
        ("writer", "python_objects"),
        ("pyfunc", "python_objects"),
        ("name", "cache"),
        ("seed", "cache"),
        ("queue", "cache"),
        ("table", "cache"),
        ("fetch", "cache"),
    ],
)
def test_what_is_kept_in_each_step_is_found_with_its_line(kind, told):
    """One more in each step, none freed: a leak, at the line that makes it."""
    (finding,) = judged(made(kind))
    assert (finding.kind, finding.site, finding.verdict, finding.per) == (told, LOOP, "leak", "step")
    assert finding.rate == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("kind", ["variable", "session", "graph", "iterator", "tape", "function_graph"])
def test_what_is_freed_again_is_no_leak(kind):
    """The cure of the same: as many freed as made."""
    assert judged(made(kind, died=1)) == []


@pytest.mark.parametrize("kind", ["trace", "retrace", "compile", "session_closed", "session_dropped", "optimizer"])
def test_what_only_happens_is_no_leak(kind):
    """Traces, compilations and closed sessions keep nothing by themselves."""
    assert judged(made(kind)) == []


def test_a_leak_of_one_a_step_is_found_within_forty_steps():
    """As promised, and not before there is evidence."""
    assert judged(made("variable"), steps=40) != []
    assert judged(made("variable"), steps=8) == []


def test_a_retrace_and_its_graph_are_one_finding():
    """The traces, their graphs and their bytes are one story, told by the function's name."""
    (finding,) = judged(made("retrace", order=1, size=1000), made("function_graph", order=2, note="train_step"))
    assert (finding.kind, finding.site) == ("retrace", LOOP)
    assert "step" in finding.cause
    assert finding.bytes == 1000 * STEPS


def test_retraces_whose_graphs_are_freed_are_no_leak():
    """Slow, but nothing is kept."""
    assert judged(made("retrace"), made("function_graph", died=1)) == []


def test_a_model_made_in_a_loop_is_one_finding_with_all_it_brings():
    """Its variables, functions, names and gradients have no stories of their own; its line is told."""
    (finding,) = judged(
        made("model", LOOP, died=1, order=0),
        made("variable", INNER, each=4, order=1),
        made("name", INNER, each=4, order=2),
        made("function_graph", FAR, order=3),
    )
    assert (finding.kind, finding.site) == ("model_rebuild", LOOP)


def test_where_the_cause_names_the_maker_the_number_says_what_it_counts():
    """`a model is built anew; +160 new variable names so far`: it is no number of models. Of retraces it is."""
    (model,) = judged(made("model", LOOP, died=1, order=0), made("name", INNER, each=4, order=1))
    assert "new variable names so far, 4 a step" in str(model)
    (retrace,) = judged(made("retrace"), made("function_graph"))
    assert re.search(r"\+\d+ so far, 1 a step", str(retrace))


def test_of_a_model_in_a_model_the_outer_one_is_told():
    """The loop makes the outer one; the inner one is made by it."""
    (finding,) = judged(made("model", INNER, each=2, order=1), made("model", LOOP, order=0))
    assert finding.site == LOOP


def test_compiling_in_a_loop_is_told_by_the_line_of_compile():
    """Not the line of fit(), which only pays for it."""
    (finding,) = judged(made("compile", LOOP, order=1), made("function_graph", INNER, order=2))
    assert (finding.kind, finding.site) == ("retrace", LOOP)
    assert "compile()" in finding.cause


def test_an_open_session_is_told_and_not_the_graph_it_brings():
    """The graph goes when the session does."""
    (finding,) = judged(made("graph", order=0), made("session", INNER, order=1))
    assert (finding.kind, finding.site) == ("session_unclosed", INNER)


def test_a_closed_session_in_a_loop_that_leaves_its_graph_is_told_as_graph():
    """In the classic `with tf.Session()` loop the session is closed and the graph leaks."""
    (finding,) = judged(made("session", died=1), made("session_closed"), made("graph_op", INNER, each=3, size=4500))
    assert (finding.kind, finding.site) == ("graph_growth", INNER)


def test_variables_in_a_running_graph_are_told_as_variables():
    """Where the operations are those of variables, the cure is another."""
    (finding,) = judged(made("graph_variable", order=0), made("graph_op", each=5, order=1))
    assert finding.kind == "variable"


def test_two_causes_are_two_findings():
    """A leak of sessions does not hide one of variables."""
    findings = judged(made("session", LOOP), made("variable", INNER))
    assert {(one.kind, one.site) for one in findings} == {("session_unclosed", LOOP), ("variable", INNER)}


@pytest.mark.parametrize(
    "cause, kind", [("session", "session_unclosed"), ("model", "model_rebuild"), ("retrace", "retrace")]
)
def test_a_function_traced_again_at_its_own_pace_is_a_finding_of_its_own(cause, kind):
    """What grows three times as slowly, elsewhere, has another reason."""
    grown = [made("function_graph")] if cause == "retrace" else []
    slow = made("retrace", FAR, each=1 / 3), made("function_graph", FAR, each=1 / 3)
    findings = judged(made(cause), *grown, *slow, steps=240)
    assert [(one.kind, one.site) for one in findings] == [(kind, LOOP), ("retrace", FAR)]


@pytest.mark.parametrize("cause", ["session", "model", "retrace"])
def test_a_function_traced_again_with_its_cause_is_no_finding_of_its_own(cause):
    """The same pace, the same reason."""
    grown = [made("function_graph")] if cause == "retrace" else []
    with_it = made("retrace", FAR, order=1), made("function_graph", FAR, order=1)
    (finding,) = judged(made(cause), *grown, *with_it, steps=240)
    assert finding.site == LOOP


def test_of_two_lines_the_one_that_came_first_is_told():
    """The line that makes the cause comes before the lines that make what follows from it."""
    (finding,) = judged(made("variable", INNER, order=2, size=100), made("variable", LOOP, order=1, size=100))
    assert finding.site == LOOP


def test_a_line_that_weighs_clearly_more_is_told_instead():
    """Forty megabytes a step are the news, not the four bytes made before them."""
    (finding,) = judged(made("variable", INNER, order=2, size=40000000), made("variable", LOOP, order=1, size=4))
    assert finding.site == INNER


def test_garbage_that_waits_for_the_collector_is_not_told():
    """What has gone after a collection was no leak."""
    assert judged(made("variable"), confirmed=False) == []


def alive(kind, count):
    """So many of a kind that live at one line."""
    return {Key(kind, LOOP): Tally(Key(kind, LOOP), 1000, 1000 - int(count), 0, 0, 0.0, 0, "step", ())}


@pytest.mark.parametrize(
    "left, rises",
    [(lambda step: 2, False), (lambda step: step // 2, True)],
    ids=["garbage", "kept"],
)
def test_garbage_that_piles_up_explains_no_growth(left, rises):
    """Iterators in cycles rise from one collection to the next, and each higher than the last: still only garbage."""
    judge = Judge(COUNT_STEPS, "step")
    for step in range(1, 200):
        judge.look(alive("dataset_graph", left(step) + step), step)
        if step % 50 == 0:
            judge.take_after_collection(alive("dataset_graph", left(step)))
            assert judge.anything_rises() is rises


def test_what_was_there_at_the_beginning_is_not_counted_as_growth():
    """A program that holds a thousand variables already leaks none of them."""
    judge = Judge(COUNT_STEPS, "step")
    counts = tallies([made("variable")], 1000)
    for step in range(STEPS):
        judge.look(counts, step)
    assert judge.suspects() == []
    assert judge.anything_rises() is False


def test_a_warm_up_is_no_leak():
    """Twenty variables made in the first steps, then none."""
    judge = Judge(COUNT_STEPS, "step")
    for step in range(1, 200):
        judge.look(tallies([made("variable")], min(step, 20)), step)
    assert judge.suspects() == []


def test_the_series_are_bounded():
    """Ever new lines do not make the judge grow."""
    judge = Judge(COUNT_STEPS, "step")
    rows = [made("variable", Site("generated.py", line, "f")) for line in range(2000)]
    judge.look(tallies(rows, 1), 1)
    assert len(judge._tracks) <= 600


def slowing(most, died=0, calls=0):
    """The kinds found where traces come more and more slowly, as they do when each slows the program down."""
    judge = Judge(COUNT_SAMPLES, "hour")
    judge.look({}, 0)
    for look in range(1, 501):
        count = int(most * (look / 500) ** 0.5)
        rows = [(kind, count, died) for kind in ("retrace", "function_graph")] + [("call", calls * look**2, 0)]
        counts = {Key(kind, LOOP): Tally(Key(kind, LOOP), born, gone, 0, 0, 0.0, 0, "step", ())
                  for kind, born, gone in rows}  # fmt: skip
        judge.look(counts, look)
        if judge.suspects():
            judge.confirm(counts)
    return [draft.finding.kind for draft in judge.drafts(counts)]


def test_hundreds_of_traces_that_slow_their_own_program_are_a_leak():
    """As with get_concrete_function() for each new shape, whose calls nobody counts."""
    assert slowing(2000) == ["retrace"]


@pytest.mark.parametrize("case", [{"most": 180}, {"most": 2000, "died": 1}, {"most": 2000, "calls": 1}])
def test_what_may_fill_up_is_none(case):
    """Fewer than hundreds; of which one has gone; which become rarer among the calls of their function."""
    assert slowing(**case) == []


@pytest.mark.parametrize("per, period", [("step", 1), ("hour", 5)])
def test_it_is_told_when_the_growth_began(per, period):
    """In steps, or in seconds since the watch began: not in looks, nor counted from when its line was first seen."""
    rule = COUNT_STEPS if per == "step" else COUNT_EVENTS
    judge = Judge(rule, per)
    quiet, looks = 100, 400
    for look in range(quiet + looks):
        counts = tallies([made("variable")], max(0, look - quiet)) if look > quiet else {}
        judge.look(counts, look * period)
        if judge.suspects():
            judge.confirm(counts)
    (draft,) = judge.drafts(counts)
    assert draft.finding.since == pytest.approx(quiet * period, abs=12 * period)


# -- what was told


def looked(judge, counts, step):
    """One look, with all that is suspected confirmed, told as the watch tells it."""
    judge.look(counts, step)
    if judge.suspects():
        judge.confirm(counts)
    drafts = judge.drafts(counts)
    judge.keep(drafts)
    return [(draft.finding.kind, draft.finding.site) for draft in drafts]


def in_phases(*phases, steps=120):
    """What is open after each step of a program whose phases follow each other: each makes these."""
    judge, begun, opened = Judge(COUNT_STEPS, "step"), [], []
    judge.look({}, 0)
    for phase, rows in enumerate(phases):
        begun.append(rows)
        for step in range(1, steps + 1):
            counts = {}
            for number, each in enumerate(begun):
                counts.update(tallies(each, step if number == phase else steps))
            opened.append(looked(judge, counts, phase * steps + step))
    return opened


MODELS = (
    made("model", LOOP, died=1, order=5),
    made("variable", LOOP, each=4, order=6),
    made("name", LOOP, each=4, order=7),
)
TRACES = (made("retrace", FAR, order=1, size=1000), made("function_graph", FAR, order=2))


@pytest.mark.parametrize(
    "first, then, told",
    [(MODELS, TRACES, ("model_rebuild", LOOP)), (TRACES, MODELS, ("retrace", FAR))],
)  # fmt: skip
def test_a_leak_is_over_by_its_own_end_and_not_since_another_begins(first, then, told):
    """Models are loaded, then a function is traced again: each is open until it has stopped, and is itself."""
    opened = in_phases(first, then, ())
    at = [number for number, kinds in enumerate(opened) if told in kinds]
    assert at == list(range(at[0], at[-1] + 1))
    assert at[-1] >= 120 + 40  # not as the other begins
    others = {one for kinds in opened for one in kinds} - {told}
    assert len(others) == 1
    assert len(others & {("model_rebuild", LOOP), ("retrace", FAR)}) == 1


def test_what_grows_beside_a_retrace_at_its_own_pace_is_a_finding_of_its_own():
    """Two leaks at once are two findings: a variable elsewhere, three times as seldom as the traces."""
    found = judged(*TRACES, made("variable", LOOP, each=1 / 3), steps=240)
    assert {(one.kind, one.site) for one in found} == {("retrace", FAR), ("variable", LOOP)}


def test_a_story_keeps_its_kind_from_the_first_word_to_the_last():
    """New optimizers come to light behind names that were told: it is the same finding, as it was told."""
    opened = in_phases((made("name", INNER),), (made("name", INNER), made("optimizer", INNER)), ())
    assert {one for kinds in opened for one in kinds} == {("cache", INNER)}


def test_a_story_without_a_line_outlives_a_change_of_the_level():
    """The budget has lowered the level, and what has no line is counted anew: what was told is not."""
    rows = made("retrace", UNKNOWN, order=1), made("function_graph", UNKNOWN, order=2)
    judge = Judge(COUNT_STEPS, "step")
    for step in range(120):
        told = looked(judge, tallies(rows, step), step)
        if step == 100:
            judge.forget_what_has_no_line([])
    assert told == [("retrace", UNKNOWN)]
    assert judge.has_told


def test_a_warm_up_that_ends_is_one_finding_and_then_none():
    """Ever new shapes for 150 steps: told as a retrace, withdrawn, and never as anything else."""
    opened = in_phases(TRACES, (), (), steps=150)
    assert {one for kinds in opened for one in kinds} == {("retrace", FAR)}
    assert opened[-1] == []


# -- bytes


def test_a_finding_has_what_memory_in_use_has_gained():
    """150 kB in use for each trace, of which 1,000 bytes are counted: it has kept what it has kept."""
    measured = MeasuredBytes()
    for step in range(STEPS + 1):
        measured.look(step, 300e6 + 150_000 * step)
    judge = Judge(COUNT_STEPS, "step")
    for step in range(STEPS + 1):
        looked(judge, tallies(TRACES, step), step)
    drafts = judge.drafts(tallies(TRACES, STEPS))
    (alone,) = [draft.finding for draft in measured.of(drafts, 0)]
    assert alone.bytes == pytest.approx(150_000 * alone.grown, rel=0.1)
    (beside,) = [draft.finding for draft in measured.of(drafts, int(4e6))]
    assert beside.bytes == pytest.approx(alone.bytes - 4e6, rel=0.01)
    assert [one.finding.bytes for one in MeasuredBytes().of(drafts, 0)] == [1000 * STEPS]  # as counted


def test_small_variables_have_not_kept_what_grows_beside_them():
    """Ten megabytes a step in native memory, and a variable of 4 bytes: its own, and what is around it."""
    measured, judge, rows = MeasuredBytes(), Judge(COUNT_STEPS, "step"), [made("variable", size=4)]
    for step in range(STEPS + 1):
        measured.look(step, 300e6 + 10_000_000 * step)
        looked(judge, tallies(rows, step), step)
    (found,) = [draft.finding for draft in measured.of(judge.drafts(tallies(rows, STEPS)), 0)]
    assert found.bytes <= 50_100 * STEPS


def test_a_count_that_has_always_grown_has_its_total():
    """One variable a step since the first, whenever that was sure."""
    judge = Judge(COUNT_STEPS, "step")
    for step in range(400):
        looked(judge, tallies([made("variable")], step), step)
    (draft,) = judge.drafts(tallies([made("variable")], 399))
    assert draft.finding.grown >= 390
    assert draft.finding.since <= 5


def test_what_was_made_at_the_start_is_no_part_of_the_growth():
    """200 variables of a model, then one a step."""
    judge = Judge(COUNT_STEPS, "step")
    for step in range(400):
        counts = tallies([made("variable")], step)
        counts = {key: tally._replace(born=tally.born + 200) for key, tally in counts.items()}
        looked(judge, counts, step)
    (draft,) = judge.drafts(counts)
    assert draft.finding.grown <= 400


def test_by_the_clock_a_pause_is_no_end():
    """Fourteen retraces in a second, for ever-new values, and then a pause: it is over when it has paused for long."""
    judge, rows = Judge(COUNT_EVENTS, "hour"), [made("function_graph"), made("retrace")]
    key = Key("function_graph", LOOP)
    said = {}
    for now in (*[look / 14 for look in range(15)], 3.0, 30.0, 59.0, 70.0):
        judge.look(tallies(rows, min(14, round(14 * now))), now)
        judge.know_endless([key])
        drafts = judge.drafts(tallies(rows, min(14, round(14 * now))))
        judge.keep(drafts)  # they are told
        said[now] = [draft.finding.kind for draft in drafts]
    assert [said[now] for now in (1.0, 3.0, 30.0, 59.0, 70.0)] == [["retrace"]] * 4 + [[]]
