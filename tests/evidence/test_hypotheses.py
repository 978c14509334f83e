"""Each hypothesis on written-down evidence: what it accuses, what it spares, what it wants to see more of.

A new hypothesis is a file in `evidence/hypotheses/`, a row in its table, and its cases here.
"""

import pkgutil

import pytest
from written_down import (
    LINE,
    MB,
    OTHER,
    always,
    collection,
    holding,
    named,
    operation,
    seen,
    steadily,
    way,
    weighing,
    window,
)  # fmt: skip

from tfmemwatch.evidence import hypotheses
from tfmemwatch.evidence.answers import AS_FILLING, SILENT, TOLD, Accused, Filling, LookOn, finding_of
from tfmemwatch.evidence.background import Background
from tfmemwatch.evidence.call_growth import Row
from tfmemwatch.evidence.evidence import Reading
from tfmemwatch.evidence.hypotheses import EARLY, END, HYPOTHESES, WINDOW, WITHOUT_INQUIRY, growing_collection
from tfmemwatch.explain.advice import TABLE
from tfmemwatch.growth.episode import Growth
from tfmemwatch.growth.per_call import GrowthPerCall
from tfmemwatch.model import FILLING, LEAK, RETAINED, UNKNOWN, Site
from tfmemwatch.probes.datasets import Remembering

NOTHING = None
NUMBERS = operation("a conversion to a tensor", kept=32 * 650, numbers=32)
ATTRIBUTES = operation("Cast", kept=4 * MB, signatures=32)
COMPILED = operation("__inference_f_1", kept=4 * MB, signatures=32, function=True, compiled=True)
TAKES = operation("IteratorGetNext", kept=MB)
PUTS = operation("QueueEnqueueV2", kept=MB)
SHAPES = operation("Softmax", kept=MB, sizes=32)
CONCAT = operation("ConcatV2", output=0)


def carrying(each):
    """A result that is larger each time by so many bytes; the window has 32 calls."""
    sizes = [each * call for call in range(32)]
    half = CONCAT._replace(calls=16, output_bytes=sum(sizes[:16]))
    return CONCAT._replace(output_bytes=sum(sizes)), half


def assigning(each):
    """The same of what is assigned to a variable."""
    return tuple(row._replace(name="AssignVariableOp") for row in carrying(each))


def held(one=None, known=None, each=40_000, tensors_each=0, **more):
    """A collection that holds what has grown."""
    known = holding() if known is None else known
    ask = {"weight": weighing(each, tensors_each), "holding": always(known)}
    ask.update({name: more.pop(name) for name in ("items", "keeps_counted") if name in more})
    return seen(collections=(collection() if one is None else one,), ask=ask, **more)


def tensors_grow(half=156, **ask):
    """One tensor more at each step."""
    return seen(tensors=(100, half, 212), ask=ask)


def around(*holdings):
    """The collections around the newest tensors."""
    return {"collections_of_newest": always(list(holdings))}


# What a hypothesis is expected to answer to what was seen, and why: `claim: (evidence, answer)`.
CASES = {
    "number_cache": {
        "as many new numbers in the second half as in the first": (
            seen(grown=20_000, looks=32, **window(steadily(NUMBERS))), ("scalar", LINE, TOLD)),
        "few, but only half of the window could be looked at": (
            seen(grown=0, looks=32, covered=0.5, **window(steadily(NUMBERS._replace(numbers=16)))),
            ("scalar", LINE, TOLD)),
        "the same, all of it looked at": (
            seen(grown=0, looks=32, **window(steadily(NUMBERS._replace(numbers=16)))), NOTHING),
        "the numbers repeat: none is new in the second half": (
            seen(looks=32, **window((NUMBERS, NUMBERS))), NOTHING),
        "too few to matter": (
            seen(looks=320, **window(steadily(NUMBERS._replace(numbers=12)))), NOTHING),
    },
    "kernel_cache": {
        "ever new attributes, and much is kept": (
            seen(looks=32, **window(steadily(ATTRIBUTES))), ("kernel", LINE, TOLD)),
        "a compiled function and ever new shapes": (
            seen(looks=32, **window(steadily(COMPILED))), ("executable", LINE, TOLD)),
        "an ordinary function: new shapes cost nothing": (
            seen(looks=32, **window(steadily(COMPILED._replace(is_compiled=False)))), NOTHING),
        "a collection holds as much": (
            held(looks=32, one=collection(looks=32), **window(steadily(ATTRIBUTES))), NOTHING),
        "functions of datasets have new names, and go with them": (
            seen(looks=32, **window(steadily(ATTRIBUTES._replace(name="ParallelMapDatasetV2")))), NOTHING),
        "its calls leave next to nothing": (
            seen(looks=32, **window(steadily(ATTRIBUTES._replace(kept_bytes=100_000)))), NOTHING),
        "memory does not grow": (
            seen(grown=1000, looks=32, **window(steadily(ATTRIBUTES))), NOTHING),
    },
    "steady_collection": {
        "longer at every step, and nothing can bound it": (
            held(looks=48), ("python_objects", LINE, TOLD)),
        "things are taken out somewhere": (
            held(looks=48, known=holding(may_be_bounded=True)), NOTHING),
        "a deque with a maxlen": (
            held(looks=48, known=holding(is_bounded=True)), NOTHING),
        "no line is known to fill it": (
            held(looks=48, known=holding(line=UNKNOWN)), NOTHING),
        "not at every step": (
            held(looks=48, one=collection(climbs=60)), NOTHING),
        "it holds little of what has grown": (
            held(looks=48, each=1000), NOTHING),
        "beside other findings little is enough, since it is counted": (
            held(looks=48, each=1000, is_beside=True), ("python_objects", LINE, TOLD)),
    },
    "growing_collection": {
        "Python objects": (
            held(), ("python_objects", LINE, TOLD)),
        "tensors": (
            held(tensors_each=1), ("live_tensors", LINE, TOLD)),
        "the cache of a decorated function": (
            held(known=holding(is_cache=True), tensors_each=1), ("tensor_cache", LINE, TOLD)),
        "in one request out of four": (
            held(one=collection(climbs=26)), ("python_objects", LINE, TOLD)),
        "may have a bound: it is looked at for longer": (
            held(known=holding(may_be_bounded=True)), LookOn(1.0)),
        "may have a bound, and goes on twice as long": (
            held(known=holding(may_be_bounded=True), looks=224), ("python_objects", LINE, TOLD)),
        "by the clock: half as long": (
            held(known=holding(may_be_bounded=True), by_clock=True), LookOn(0.5)),
        "by the clock what may have a bound is first told as what may fill": (
            held(known=holding(may_be_bounded=True), by_clock=True, looks=168), ("python_objects", LINE, AS_FILLING)),
        "it is no longer than a number of the source": (
            held(known=holding(may_be_kept_at=400, length=450), looks=224), NOTHING),
        "it is longer than a number of the source": (
            held(known=holding(may_be_kept_at=400, length=850), looks=224), ("python_objects", LINE, TOLD)),
        "fills ever more slowly: it is looked at for longer": (
            held(one=collection(slows_down=True)), LookOn(1.0)),
        "and still does": (
            held(one=collection(slows_down=True), looks=224), NOTHING),
        "it has stopped": (
            held(one=collection(goes_on=False)), NOTHING),
        "beside other findings it needs no share of what has grown": (
            held(each=1000, is_beside=True), ("python_objects", LINE, TOLD)),
        "beside other findings, and next to nothing": (
            held(each=50, is_beside=True), NOTHING),
        "beside other findings, and inside a library's object": (
            held(known=holding(is_librarys=True), is_beside=True), NOTHING),
        "its items keep what counts explain": (
            held(is_beside=True, keeps_counted=always(True)), NOTHING),
        "it has a finding": (
            held(is_beside=True, known_collections=frozenset((1,))), NOTHING),
        "it has a bound": (
            held(known=holding(is_bounded=True)), NOTHING),
        "what a library keeps inside": (
            held(known=holding(line=UNKNOWN, is_librarys=True)), NOTHING),
        "next to nothing of what has grown": (
            held(each=100), NOTHING),
        "now and then": (
            held(one=collection(climbs=10)), NOTHING),
    },
    "exit_functions": {
        "one more at each step, and a line that registers them": (
            seen(more_exits=112, ask={"registering_exits": always([LINE])}), ("python_objects", LINE, TOLD)),
        "no line of the program's does": (
            seen(more_exits=112), NOTHING),
        "a few, at the start": (
            seen(more_exits=5, ask={"registering_exits": always([LINE])}), NOTHING),
    },
    "open_tape": {
        "tensors grow in number, and a tape records": (
            tensors_grow(tapes=always([OTHER])), ("open_tape", OTHER, TOLD)),
        "a total is carried on under it": (
            tensors_grow(tapes=always([OTHER]), summing=always(LINE)), ("summed_under_tape", LINE, TOLD)),
        "no tape records": (
            tensors_grow(), NOTHING),
        "tensors have stopped to come": (
            tensors_grow(half=210, tapes=always([OTHER])), NOTHING),
        "a tape records, and tensors do not grow in number": (
            seen(ask={"tapes": always([OTHER])}), NOTHING),
    },
    "kept_tensors": {
        "in a collection that a line fills": (
            tensors_grow(**around(None, holding())), ("live_tensors", LINE, TOLD)),
        "in a ring: as long as before, its places are filled": (
            tensors_grow(**around(holding(is_as_long_as_before=True))), Filling()),
        "it is no longer than a number of the source": (
            tensors_grow(**around(holding(may_be_kept_at=400, length=450))), Filling()),
        "it fills ever more slowly": (
            tensors_grow(**around(holding()))._replace(collections=(collection(slows_down=True),)), Filling()),
        "all have a bound": (
            tensors_grow(**around(holding(is_bounded=True))), NOTHING),
        "all have a bound, and hold most of what has grown": (
            tensors_grow(bytes_of_newest=always(3 * MB), **around(None, holding(is_bounded=True))), Filling()),
        "all have a bound, and hold little of it": (
            tensors_grow(bytes_of_newest=always(MB), **around(holding(is_bounded=True))), NOTHING),
        "TensorFlow keeps them": (
            tensors_grow(**around(holding(is_frameworks=True))), NOTHING),
        "no line fills it": (
            tensors_grow(**around(holding(line=UNKNOWN))), NOTHING),
        "tensors do not grow in number": (
            seen(ask=around(holding())), NOTHING),
    },
    "chain": {
        "each object has the one before it": (
            tensors_grow(chain_of_newest=always(named("train.head.next… → EagerTensor"))),
            ("live_tensors", LINE, TOLD)),
        "at the line whose calls leave most, where none is seen to link them": (
            tensors_grow(chain_of_newest=always(named("train.head → EagerTensor", None)))._replace(
                **window(steadily(operation(site=OTHER, kept=4 * MB)))), ("live_tensors", OTHER, TOLD)),
        "no line at all": (
            tensors_grow(chain_of_newest=always(named("train.head → EagerTensor", None))), NOTHING),
        "a collection has them": (
            tensors_grow(chain_of_newest=always(named("x → EagerTensor")), **around(holding(is_bounded=True))),
            NOTHING),
        "an lru_cache has them": (
            tensors_grow(chain_of_newest=always(named("f → its cache → EagerTensor"))), NOTHING),
        "no name leads to them": (
            tensors_grow(chain_of_newest=always(named("", None))), NOTHING),
    },
    "emptied_caches": {
        "the second time it gives back more": (
            seen(emptied_at=28, working_sets={"kernel cache": MB},
                 ask={"emptied_caches": always({"kernel cache": 3 * MB})}), ("asked", UNKNOWN, TOLD)),
        "it gives back its working set": (
            seen(emptied_at=28, working_sets={"kernel cache": MB},
                 ask={"emptied_caches": always({"kernel cache": MB})}), NOTHING),
        "it may not be emptied": (
            seen(emptied_at=28), NOTHING),
    },
    "growing_variable": {
        "first doubted: a window that fills has met its end by the next time": (
            seen(**window(assigning(40_000))), ("growing_variable", LINE, SILENT)),
        "it is cut": (
            seen(ask={"is_cut": always(True)}, **window(assigning(40_000))),
            Filling("what is assigned at train.py:7 step() is made longer, and cut")),
        "what is assigned is as large as before": (
            seen(**window(steadily(CONCAT._replace(name="AssignVariableOp", output_bytes=4 * MB)))), NOTHING),
        "the result of an operation grows, and is assigned to no variable": (
            seen(**window(carrying(40_000))), NOTHING),
        "memory rises by ten times as much, and in jumps": (
            seen(grown=40 * MB, half=40 * MB, **window(assigning(40_000))), ("growing_variable", LINE, SILENT)),
        "it is too little": (
            seen(**window(assigning(100))), NOTHING),
    },
    "growing_tensor": {
        "first doubted: a window that fills has met its end by the next time": (
            seen(ask={"largest_tensor": always("train.state → EagerTensor")}, **window(carrying(40_000))),
            ("growing_tensor", LINE, SILENT)),
        "it is cut": (
            seen(ask={"largest_tensor": always("train.state"), "is_cut": always(True)}, **window(carrying(40_000))),
            Filling("train.state is made longer, and cut")),
        "no name leads to a tensor of this size": (
            seen(**window(carrying(40_000))), NOTHING),
        "results are as large as before": (
            seen(ask={"largest_tensor": always("x")}, **window(steadily(CONCAT._replace(output_bytes=4 * MB)))),
            NOTHING),
        "growth that bends": (
            seen(half=4 * MB, ask={"largest_tensor": always("x")}, **window(carrying(40_000))), NOTHING),
    },
    "dataset": {
        "a cache of elements that never end": (
            seen(grown=8 * MB, ask={"remembering": always([Remembering(LINE, "cache")])}, **window(steadily(TAKES))),
            ("cache_dataset", LINE, TOLD)),
        "unique() of elements that never end": (
            seen(grown=8 * MB, ask={"remembering": always([Remembering(LINE, "unique")])}, **window(steadily(TAKES))),
            ("hoarding_dataset", LINE, TOLD)),
        "first doubted where it is little": (
            seen(grown=200_000, ask={"remembering": always([Remembering(LINE, "cache")])}, **window(steadily(TAKES))),
            ("cache_dataset", LINE, SILENT)),
        "by the clock, also where it grows by doubling": (
            seen(grown=8 * MB, half=8 * MB, by_clock=True, ask={"remembering": always([Remembering(LINE, "cache")])},
                 **window(steadily(TAKES))), ("cache_dataset", LINE, TOLD)),
        "a cache in its first epoch": (
            seen(ask={"remembering": always([Remembering(LINE, "cache", 2000, 40_000)])}, **window(steadily(TAKES))),
            Filling("elements that Dataset.cache() keeps, 2,000 at most (train.py:7 step())")),
        "after its first epoch": (
            seen(ask={"remembering": always([Remembering(LINE, "cache", 2000)])}, **window(steadily(TAKES)))._replace(
                filled_from={"dataset": Reading(0, -2000.0, 80.0 * MB)}), NOTHING),
        "more than its elements can weigh": (
            seen(ask={"remembering": always([Remembering(LINE, "cache", 2000, 1000)])}, **window(steadily(TAKES))),
            NOTHING),
        "a shuffle with a small buffer beside a leak": (
            seen(ask={"remembering": always([Remembering(LINE, "shuffle", 100, 520)])}, **window(steadily(TAKES))),
            NOTHING),
        "what grows is Python's": (
            seen(grown=8 * MB, blocks=60_000, ask={"remembering": always([Remembering(LINE, "cache")])},
                 **window(steadily(TAKES))), NOTHING),
        "nothing is taken from an iterator": (
            seen(ask={"remembering": always([Remembering(LINE, "cache")])}), NOTHING),
        "no dataset remembers": (
            seen(**window(steadily(TAKES))), NOTHING),
    },
    "one_jump": {
        "straight without the jump": (
            seen(half=3 * MB)._replace(in_use=tuple(
                100 * MB + look * 20_000 + (look >= 40) * 2 * MB for look in range(112))),
            LookOn(1.0, leaves_first_half=True)),
        "three times already": (
            seen(half=3 * MB, looked_on=3)._replace(in_use=tuple(
                100 * MB + look * 20_000 + (look >= 40) * 2 * MB for look in range(112))), NOTHING),
        "it bends": (
            seen(half=3 * MB)._replace(in_use=tuple(
                100 * MB + 4 * MB * (1 - 0.97**look) for look in range(112))), NOTHING),
        "it is straight": (
            seen(), NOTHING),
    },
    "bounded_collections": {
        "they hold most of it, and would have been accused": (
            held(known=holding(is_bounded=True)), Filling()),
        "no name leads to them": (
            seen(collections=(collection(),), ask={"weight": weighing(40_000)}), NOTHING),
        "they hold little": (
            held(each=10_000), NOTHING),
    },
    "shape_cache": {
        "fewer shapes than oneDNN keeps": (
            seen(grown=112 * 33_000, **window(steadily(SHAPES))),
            Filling("32.2 KiB for each new shape that train.py:7 step() comes to; oneDNN keeps some 2,048 shapes "
                    "at most")),
        "more than it keeps": (
            seen(grown=112 * 33_000, filled_from={"shape_cache": Reading(0, 0.0, 20.0 * MB)},
                 **window(steadily(SHAPES))), NOTHING),
        "the shapes are those of before": (
            seen(**window((SHAPES, SHAPES))), NOTHING),
        "compiled: each is an executable, and all are kept": (
            seen(**window(steadily(COMPILED))), NOTHING),
    },
    "slow_growth": {
        "by the clock it is looked at twice as long": (
            seen(by_clock=True), LookOn(1.0)),
        "and longer where it is little": (
            seen(grown=MB, by_clock=True, looks=224), LookOn(1.0)),
        "not for ever": (
            seen(grown=MB, by_clock=True, looks=448), NOTHING),
        "in a loop with steps the next inquiry decides": (
            seen(), NOTHING),
        "what fills is no growth to wait for": (
            seen(by_clock=True, has_an_end=True), NOTHING),
    },
    "filled_queue": {
        "first doubted": (
            seen(**window(steadily(PUTS))), ("backlog", LINE, SILENT)),
        "a stage of pairs": (
            seen(**window(steadily(PUTS._replace(name="MapStage")))), ("backlog", LINE, SILENT)),
        "a barrier": (
            seen(**window(steadily(PUTS._replace(name="BarrierInsertMany")))), ("backlog", LINE, SILENT)),
        "as much is taken out of the stage": (
            seen(**window(steadily(PUTS._replace(name="MapStage")),
                          steadily(operation("MapUnstageNoKey", OTHER)))), NOTHING),
        "as much is taken out": (
            seen(**window(steadily(PUTS), steadily(operation("QueueDequeueV2", OTHER)))), NOTHING),
        "now and then": (
            seen(**window(steadily(PUTS._replace(calls=3)))), NOTHING),
        "something else has an end": (
            seen(has_an_end=True, **window(steadily(PUTS))), NOTHING),
    },
    "growing_value": {
        "an array that is larger each time; first doubted": (
            seen(ask={"grown_value": always(named("train.log", OTHER))}), ("growing_value", OTHER, SILENT)),
        "no line renews it": (
            seen(ask={"grown_value": always(named("train.log", None))}), NOTHING),
        "none has grown": (
            seen(), NOTHING),
    },
    "growing_result": {
        "no name leads to it; first doubted": (
            seen(**window(carrying(50_000))), ("growing_tensor", LINE, SILENT)),
        "it is cut": (
            seen(ask={"is_cut": always(True)}, **window(carrying(50_000))), Filling()),
        "results are as large as before": (
            seen(**window(steadily(CONCAT))), NOTHING),
    },
    "python_heap": {
        "small objects make up most of it; first doubted": (
            seen(blocks=40_000), ("python_heap", UNKNOWN, SILENT)),
        "they do not": (
            seen(blocks=4_000), NOTHING),
        "more of it came in the first half: it may fill by chance": (
            seen(blocks=40_000, half=2.4 * MB), NOTHING),
    },
    "native_heap": {
        "more of it came in the first half: it may fill by chance": (
            seen(half=2.4 * MB), NOTHING),
        "a little more did": (
            seen(half=2.2 * MB), ("native_heap", UNKNOWN, SILENT)),
        "much, in a straight line; first doubted": (
            seen(**window(steadily(operation(kept=4 * MB)))), ("native_heap", LINE, SILENT)),
        "no line leaves much of it": (
            seen(), ("native_heap", UNKNOWN, SILENT)),
        "by the clock it is first told as what may fill": (
            seen(by_clock=True, looks=224), ("native_heap", UNKNOWN, AS_FILLING)),
        "by the clock not before it was looked at twice as long": (
            seen(by_clock=True), NOTHING),
        "little": (
            seen(grown=200_000), NOTHING),
        "it bends": (
            seen(half=3 * MB), NOTHING),
        "its floor does not rise": (
            seen()._replace(in_use=(100.0 * MB,) * 112), NOTHING),
        "something was seen that has an end": (
            seen(has_an_end=True), NOTHING),
    },
}  # fmt: skip

SLOW = Growth(samples=3000, since=0, rises=300, first=100 * MB, last=110 * MB, slope=3500.0, slope_error=1.0, bend=0.5)
LEAVING = Row(LINE, "Net net.__call__", GrowthPerCall())

# The same for what needs no inquiry: `claim: (background, verdicts and lines)`.
BACKGROUND = {
    "call_growth": {
        "calls that leave something are told as what may fill": (
            Background("hour", calls=(LEAVING,), looks_of_calls=10), [(FILLING, LINE)]),
        "after a thousand looks as a leak": (
            Background("hour", calls=(LEAVING,), looks_of_calls=1000), [(LEAK, LINE)]),
        "no calls leave anything": (
            Background("hour"), []),
    },
    "slow_rise": {
        "thousands of looks": (
            Background("hour", slow_rise=SLOW, heaviest=(LINE, "MatMul")), [(LEAK, LINE)]),
        "something is known to fill": (
            Background("hour", slow_rise=SLOW, is_filling=True), []),
        "memory stands still": (
            Background("hour"), []),
    },
    "fragmentation": {
        "the allocator keeps ever more": (
            Background("hour", kept_by_allocator=128.0 * MB), [(RETAINED, Site("", 0, "the process"))]),
        "it does not": (
            Background("hour"), []),
    },
}  # fmt: skip


def rows_of(cases):
    return [pytest.param(name, *case, id="%s: %s" % (name, why))
            for name, rows in cases.items() for why, case in rows.items()]  # fmt: skip


@pytest.mark.parametrize("name, evidence, expected", rows_of(CASES))
def test_what_a_hypothesis_answers(name, evidence, expected):
    """It accuses this line, spares, says that something fills, or looks on."""
    answer = next(one for one in HYPOTHESES if one.name == name).ask(evidence)
    if isinstance(answer, Accused):
        assert answer.story in TABLE
        answer = (answer.story, answer.site, answer.first_time)
    assert answer == expected


@pytest.mark.parametrize("name, background, expected", rows_of(BACKGROUND))
def test_what_needs_no_inquiry(name, background, expected):
    """Findings of slow growth, calls and the allocator."""
    found = next(one for one in WITHOUT_INQUIRY if one.name == name).ask(background)
    assert [(one.verdict, one.site) for one in found] == expected


def test_an_accused_collection_is_followed_by_its_length():
    """So that the finding is over when it stops."""
    answer = next(one for one in HYPOTHESES if one.name == "growing_collection").ask(held())
    assert (answer.collection, answer.rate, answer.holder) == (way(1), 112 / 104, "train.history")


def test_a_hypothesis_is_a_file_a_row_and_cases():
    """None is forgotten: each file has its row, and each row what it accuses and what it spares."""
    files = {module.name for module in pkgutil.iter_modules(hypotheses.__path__)}
    assert files == {one.name for one in HYPOTHESES} | {one.name for one in WITHOUT_INQUIRY}
    assert set(CASES) == {one.name for one in HYPOTHESES}
    assert set(BACKGROUND) == {one.name for one in WITHOUT_INQUIRY}
    for rows in CASES.values():
        assert any(expected is NOTHING for _, expected in rows.values())
        assert any(expected is not NOTHING for _, expected in rows.values())
    for rows in BACKGROUND.values():
        assert {bool(found) for _, found in rows.values()} == {True, False}


def test_they_are_asked_from_the_exact_to_the_vague():
    """In a window, early, at the end; what has no name comes last."""
    order = [one.when for one in HYPOTHESES]
    assert order == sorted(order, key=[WINDOW, EARLY, END].index)
    assert HYPOTHESES[-1].name == "native_heap"


ITEMS = {
    "tasks": ("tasks are put into train.history and never taken out", "add_done_callback"),
    "exceptions": ("exceptions are put into train.history and never taken out", "traceback.format_exc()"),
    "records": ("log records are put into train.history and never taken out", "handler.format"),
    "callbacks": ("callbacks are put into train.history and never taken out", "Register each once"),
    "": ("tensors are put into train.history and never taken out", "float(x)"),
}


@pytest.mark.parametrize("items", ITEMS)
def test_the_cure_is_one_for_the_items_of_the_collection(items):
    """`float(x)` is no cure for a task or for an exception that keeps tensors."""
    finding = told(held(tensors_each=1, items=always(items)))
    cause, cure = ITEMS[items]
    assert finding.cause == cause
    assert cure in finding.cure
    assert ("float(x)" in finding.cure) == (items == "")


def test_of_a_queue_from_which_a_part_is_taken_more_is_put_in_than_out():
    """`and never taken out` would be no truth there."""
    known = holding(may_be_bounded=True, is_taken_from=True)
    finding = told(held(known=known, looks=224))
    assert finding.cause == "more is put into train.history than is taken out"
    assert "maxlen" in finding.cure


def told(evidence):
    """What is said of a growing collection."""
    return finding_of(growing_collection.ask(evidence), evidence, True, "step")


def test_beside_other_findings_a_collection_has_its_own_bytes():
    """What else has grown is told by them."""
    assert told(held(each=30_000)).bytes == 4 * MB
    assert told(held(each=30_000, is_beside=True)).bytes == 112 * 30_000


@pytest.mark.parametrize(
    "now, length, number, since",
    [
        (1000, 1000, 1000, 0),  # one a step since the first
        (1000, 900, 900, 100),  # the first steps warmed up
        (1000, 112, 112, 888),  # it has just begun
        (1000, 5000, 112, 888),  # it was that long before
        (1000, 400, 112, 888),  # it may have begun in between, or have had some
    ],
)
def test_a_total_is_one_since_the_beginning(now, length, number, since):
    """`+1,000 since step 1`, and not what came while evidence was taken; where that is not known, the latter."""
    evidence = held(known=holding(length=length))
    evidence = evidence._replace(first=evidence.first._replace(now=now - 112), last=evidence.last._replace(now=now))
    finding = told(evidence)
    assert (finding.grown, finding.since) == (number, pytest.approx(since, abs=90))
