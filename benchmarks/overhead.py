"""What the watch costs, as ratios against the bare program in the same run.

    python benchmarks/overhead.py [--quick] [--json] [--strict] [--wall] [--only WORD]

Each thing is timed in short batches, with the watch and without it in turn, so that what else the machine
does falls on both sides alike. The rounds are taken in some ten groups: within one the best batch of each side
counts, for what disturbs some batches and not others, and of the groups the median ratio, for a machine that
changes its pace meanwhile. The bare side is timed twice in each round: what the same reckoning makes of those
two, with its standard error, is what noise alone does, and stands in the column «noise».
What is timed is the processor time of the calling thread, in which all our hooks run: other programs do not
stretch it as they do the clock's (`--wall`). Where TensorFlow works in other threads, as in Session.run, the
ratio is therefore an upper bound.
A row is «ok» within its bound, «noise» where it is beyond it by less than that, and «NO» where it is not.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import json
import os
import statistics
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
import numpy as np
import tensorflow as tf

import tfmemwatch
from tfmemwatch.config import Config
from tfmemwatch.evidence.instruments.operations_window import OperationsWindow
from tfmemwatch.explain.arguments import Trace
from tfmemwatch.explain.reasons import Reasons, TraceHistory
from tfmemwatch.explain.signatures import Node, Signature
from tfmemwatch.growth import rules
from tfmemwatch.growth.series import Series
from tfmemwatch.ledger.counts import Ledger
from tfmemwatch.model import Site
from tfmemwatch.monitor.budget import Budget
from tfmemwatch.outputs.live_page import LivePage
from tfmemwatch.probes.traces import Traces
from tfmemwatch.probes.variables import Variables
from tfmemwatch.safety import guard
from tfmemwatch.seams import functions

BATCH_SECONDS = 0.0015  # short, so that some batches see nothing else of the machine
GROUPS = 10  # of rounds
SIDES = ("bare", "watched", "bare again")
NEVER_SECONDS = 3600.0  # a sampler that does not look while we time; what a look costs has rows of its own
Operation = Callable[[], Any]


class Case(NamedTuple):
    """One thing that programs do, and what the watch may add to it."""

    what: str
    prepare: Callable[[], Operation]  # called anew for each batch, after the watch was put on or off
    most_ratio: Optional[float] = None
    most_added_us: Optional[float] = None
    most_calls: int = 1000  # in one batch
    most_rounds: int = 400


class Row(NamedTuple):
    """One line of the table."""

    what: str
    bare_us: Optional[float]
    watched_us: float
    noise: float = 0.0
    most_ratio: Optional[float] = None
    most_added_us: Optional[float] = None
    most_us: Optional[float] = None
    rounds: int = 0

    @property
    def ratio(self) -> Optional[float]:
        return self.watched_us / self.bare_us if self.bare_us else None

    @property
    def added_us(self) -> Optional[float]:
        return self.watched_us - self.bare_us if self.bare_us is not None else None

    @property
    def bound(self) -> str:
        bounds = [
            (self.most_ratio, "≤ %.2f"),
            (self.most_added_us, "≤ +%g us"),
            (self.most_us, "≤ %g us"),
        ]
        return ", ".join(text % value for value, text in bounds if value is not None)

    @property
    def ok(self) -> str:
        if not self.bound:
            return ""
        if self._is_within(0.0):
            return "ok"
        return "noise" if self._is_within(self.noise) else "NO"

    def _is_within(self, slack: float) -> bool:
        """Ratios are bounds with two digits: 1.004 is 1.00."""
        bare = self.bare_us or 0.0
        return (
            (self.most_ratio is None or self.watched_us <= (self.most_ratio + 0.005 + slack) * bare)
            and (self.most_added_us is None or self.watched_us - bare <= self.most_added_us + slack * bare)
            and (self.most_us is None or self.watched_us <= self.most_us)
        )


# -- timing


@contextlib.contextmanager
def side(name: str) -> Iterator[None]:
    """The program with the watch, or bare.

    Bare is after an uninstall: the interpreter forgets what it knew of a class that was changed, and must do
    so on both sides alike.
    """
    tfmemwatch.install(sample_seconds=NEVER_SECONDS)
    if name != "watched":
        tfmemwatch.uninstall()
    try:
        yield
    finally:
        tfmemwatch.uninstall()


class Clock:
    """What time is measured by; one for the run."""

    now: Callable[[], float] = staticmethod(time.thread_time)


def batch_us(operation: Operation, calls: int) -> float:
    """Microseconds a call, over a few calls; garbage is collected before, not within."""
    turns = itertools.repeat(None, calls)
    gc.collect()
    gc.disable()
    try:
        began = Clock.now()
        for _ in turns:
            operation()
        return (Clock.now() - began) / calls * 1e6
    finally:
        gc.enable()


def best_us(operation: Operation, calls: int, times: int = 30) -> float:
    """The best of some batches."""
    return min(batch_us(operation, calls) for _ in range(times))


def measure(case: Case, seconds: float) -> Row:
    """The case with the watch and without, in turn, for so long."""
    operation = case.prepare()
    operation()
    one_us = best_us(operation, 3, 3)
    calls = max(1, min(case.most_calls, int(BATCH_SECONDS * 1e6 / one_us)))
    # What the interpreter has forgotten of a changed class it learns again within some 60 calls.
    warm_up = min(case.most_calls, 80 if one_us < 600 else 12)
    batches = 4 if one_us < 600 else 2
    timed: Dict[str, List[float]] = {name: [] for name in SIDES}
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < case.most_rounds and (rounds < 9 or time.perf_counter() < end):
        turn = rounds % len(SIDES)
        for name in SIDES[turn:] + SIDES[:turn]:
            with side(name):
                operation = case.prepare()
                for _ in range(warm_up):
                    operation()
                timed[name].append(min(batch_us(operation, calls) for _ in range(batches)))
                del operation
        rounds += 1
    each = max(3, rounds // GROUPS)
    groups = [[min(timed[name][at : at + each]) for name in SIDES] for at in range(0, rounds - each + 1, each)]
    bare = statistics.median(min(one, again) for one, _, again in groups)
    ratio = statistics.median(2 * with_it / (one + again) for one, with_it, again in groups)
    apart = [again / one for one, _, again in groups]
    noise = abs(statistics.median(apart) - 1) + 1.25 * statistics.pstdev(apart) / len(apart) ** 0.5
    return Row(case.what, bare, bare * ratio, noise, case.most_ratio, case.most_added_us, rounds=rounds)


# -- what programs do


def always(operation: Operation) -> Callable[[], Operation]:
    return lambda: operation


def cases() -> List[Case]:
    """Every case that this TensorFlow has."""
    vector = tf.constant([1.0, 2.0, 3.0])
    keras = keras_cases()
    return [
        Case("a cached tf.function call", cached_function(vector), 1.00),
        Case("a concrete function call", concrete_function(vector)),
        Case("an eager operation", always(lambda: vector + vector), 1.00),
        *keras[:1],
        Case("Session.run, one fetch", session_run(lambda tensor: tensor), 1.02),
        Case("Session.run, a list of three", session_run(lambda tensor: [tensor] * 3), 1.02),
        Case("tf.Variable()", always(lambda: tf.Variable(1.0)), 1.08, most_calls=50),
        Case("session open and close", session_open_close, 1.15),
        Case("tf.Graph()", always(tf.Graph)),
        Case("a trace", trace(vector), 1.01),
        Case("a retrace", retrace, 1.01, most_rounds=150),
        *keras[1:],
        Case("a GradientTape step", tape_step),
        Case("a dataset iterator", dataset_iterator),
        Case("tf.random.normal()", always(lambda: tf.random.normal([4]))),
        Case("tf.random.normal(), seeded", seeded_random, most_calls=3, most_rounds=60),
    ]


def cached_function(vector: Any) -> Callable[[], Operation]:
    @tf.function
    def plus_one(value):
        return value + 1.0

    return always(lambda: plus_one(vector))


def concrete_function(vector: Any) -> Callable[[], Operation]:
    @tf.function
    def plus_one(value):
        return value + 1.0

    concrete = plus_one.get_concrete_function(tf.TensorSpec([3], tf.float32))
    return always(lambda: concrete(vector))


def session_run(fetches: Callable[[Any], Any]) -> Callable[[], Operation]:
    graph = tf.Graph()
    with graph.as_default():
        wanted = fetches(tf.constant(1.0) + 1.0)

    def prepare() -> Operation:  # a session that was opened under the watch: others are not followed
        session = tf.compat.v1.Session(graph=graph)
        return lambda: session.run(wanted)

    return prepare


def session_open_close() -> Operation:
    graph = tf.Graph()
    return lambda: tf.compat.v1.Session(graph=graph).close()


def trace(vector: Any) -> Callable[[], Operation]:
    def operation() -> None:
        tf.function(lambda value: value * 2.0 + 1.0)(vector)

    return always(operation)


def retrace() -> Operation:
    function = tf.function(lambda value, number: value * number + 1.0)
    vector = tf.constant([1.0, 2.0, 3.0])
    numbers = itertools.count()
    return lambda: function(vector, next(numbers))


def tape_step() -> Operation:
    weight, value = tf.Variable(2.0), tf.constant(3.0)

    def operation() -> Any:
        with tf.GradientTape() as tape:
            loss = weight * value
        return tape.gradient(loss, weight)

    return operation


def dataset_iterator() -> Operation:
    dataset = tf.data.Dataset.range(3)
    return lambda: iter(dataset)


def seeded_random() -> Operation:
    """Each call leaves a kernel behind, hence the few calls; and so this one comes last."""
    tf.compat.v1.set_random_seed(7)
    return lambda: tf.random.normal([4])


def keras_cases() -> List[Case]:
    """One small model, and every way to call it."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
    model.compile("sgd", "mse")
    x, y = np.ones((64, 8), np.float32), np.ones((64, 4), np.float32)
    tensor = tf.constant(x)
    model.fit(x, y, verbose=0)
    return [
        Case("an eager Model call, 1 layer", always(lambda: model(tensor)), 1.01, 2.0),
        Case("model.predict()", always(lambda: model.predict(x, verbose=0)), 1.00),
        Case("model.fit()", always(lambda: model.fit(x, y, verbose=0)), 1.00),
        Case("model.train_on_batch()", always(lambda: model.train_on_batch(x, y))),
    ]


# -- what the watch does by itself


def own_rows(quick: bool) -> List[Row]:
    """What is there only with the watch: the thread, a step, a series, a window of evidence."""
    return [
        *sampler_rows(1.5 if quick else 4.0),
        *step_rows(),
        ledger_row(),
        reasons_row(),
        *series_rows(),
        *memory_rows(),
        *page_rows(),
        *window_rows(),
        *budget_rows(),
    ]


def fill(ledger: Ledger, sites: int) -> List[Any]:
    """So many lines, each with one variable that lives."""
    things = [Thing() for _ in range(sites)]
    for number, thing in enumerate(things):
        ledger.born("variable", Site("train.py", number + 1, "step"), thing)
    return things


class Thing:
    """Something that can die."""


def sampler_rows(seconds: float) -> List[Row]:
    """The processor time of the thread in an idle process, for the looks of the default interval."""
    each = [(sites, sampler_us_a_look(sites, seconds / 2)) for sites in (20, 600)]
    default = Config().sample_seconds
    most = default * 1e6 * 0.001
    text = "the sampler, a look (%d lines): %.4f %% of a core"
    return [Row(text % (sites, us / (default * 1e6) * 100), None, us, most_us=most) for sites, us in each]


def sampler_us_a_look(sites: int, seconds: float) -> float:
    interval = 0.01
    watch = tfmemwatch.install(sample_seconds=interval)
    try:
        things = fill(watch.ledger, sites)
        thread = next(one for one in threading.enumerate() if one.name == "tfmemwatch")
        clock = time.pthread_getcpuclockid(thread.ident)
        time.sleep(10 * interval)
        before, looks = time.clock_gettime(clock), watch.state.looks
        time.sleep(seconds)
        spent, looks = time.clock_gettime(clock) - before, watch.state.looks - looks
        del things
        return spent / max(1, looks) * 1e6
    finally:
        tfmemwatch.uninstall()


def step_rows() -> List[Row]:
    rows = []
    for sites, evidence in ((20, True), (20, False), (600, True)):
        with tfmemwatch.watch("bench", evidence=evidence, log=False) as block:
            things = fill(block._watch.ledger, sites)
            what = "block.step(), %d lines%s" % (sites, "" if evidence else ", evidence off")
            rows.append(Row(what, None, best_us(block.step, 20)))
            del things
    return rows


def ledger_row() -> Row:
    """With its share of the counting of deaths, which some births do for all."""
    ledger, at = Ledger(), Site("train.py", 1, "step")

    def birth_and_death() -> None:
        ledger.born("variable", at, Thing())

    return Row("a birth and a death in the ledger", None, best_us(birth_and_death, 10000, 7))


def reasons_row() -> Row:
    """By what a trace is dearer when its function has had 1,000: it is compared with those that are remembered."""
    reasons, history = Reasons(), TraceHistory(functions.traced(tf.function(lambda value, number: value)))
    at, numbers = Site("train.py", 1, "step"), itertools.count()
    rate = Node("value", "float")

    def compare() -> None:
        token = next(numbers)
        asked = Signature((("x", Node("tensor", "float32", (token, 16))), ("rate", rate._replace(token=token))))
        reasons.traced(history, at, "step", Trace(asked, asked), False)

    for _ in range(1000):
        compare()
    return Row("why a trace, after 1,000 of its function", None, best_us(compare, 1000, 7), most_us=70.0)


def series_rows() -> List[Row]:
    rows = []
    for name in ("COUNT_SAMPLES", "COUNT_EVENTS", "COUNT_STEPS", "BYTE_SAMPLES", "BYTE_STEPS"):
        series = Series(getattr(rules, name))
        numbers = itertools.count(300000000)

        def update(series: Any = series, numbers: Any = numbers) -> None:
            value = float(next(numbers))
            series.update(value + value % 7)
            if series.verdict == "suspected":
                series.confirm(value)

        rows.append(Row("Series.update, rising, %s" % name, None, best_us(update, 1000), most_us=1.0))
    return rows


def memory_rows() -> List[Row]:
    """What is read of memory: at each look, at each end of a block, and only when it is asked for."""
    watch = tfmemwatch.install(sample_seconds=NEVER_SECONDS)
    try:
        numbers = itertools.count()

        def look() -> None:
            watch.state.ahead.look(5.0 * next(numbers), watch.process.read(), 0)

        tallies = watch.state.read()
        return [
            Row("memory of a look", None, best_us(watch.process.read, 200), most_us=100.0),
            Row("limits and the trend of a look", None, best_us(look, 50), most_us=2000.0),
            Row("owners of memory, at once", None, best_us(lambda: watch.answers.light_account(tallies), 20)),
            Row("owners of memory, on request", None, best_us(watch.answers.account, 1, 3)),
        ]
    finally:
        tfmemwatch.uninstall()


def page_rows() -> List[Row]:
    """What the live page takes, beside its connection: of a program with 300 lines."""
    watch = tfmemwatch.install(sample_seconds=NEVER_SECONDS)
    try:
        kinds, looks = ("variable", "function_graph", "trace", "retrace", "model", "iterator"), itertools.count()
        for number in range(300):
            watch.ledger.happened(kinds[number % len(kinds)], Site("part.py", number + 1, "f%d" % number))
        answers = watch.answers
        news = LivePage(answers.light_report, lambda: next(looks), lambda: next(looks))
        still = LivePage(answers.light_report, lambda: 1, answers.news)
        mark = dict(still.answer("GET", "/report.json").headers)["ETag"]

        def ask() -> None:
            still.answer("GET", "/report.json", "since=0", mark)

        def given() -> None:
            news.answer("GET", "/report.json", "since=0")

        return [
            Row("a poll of the page, nothing new", None, best_us(ask, 200), most_us=100.0),
            Row("a poll of the page, a new report", None, best_us(given, 10), most_us=2000.0),
        ]
    finally:
        tfmemwatch.uninstall()


def window_rows() -> List[Row]:
    """While the watch looks for what nothing counted explains, eager operations pay; for 32 looks at most."""
    vector = tf.constant([1.0, 2.0, 3.0])
    bare, open_ = [], []
    for _ in range(20):
        watch = tfmemwatch.install(sample_seconds=NEVER_SECONDS)
        window = OperationsWindow(watch.scene)
        bare.append(best_us(lambda: vector + vector, 100, 3))
        window.open()
        open_.append(best_us(lambda: vector + vector, 100, 3))
        window.close()
        tfmemwatch.uninstall()
    return [Row("an eager operation, window of evidence open", min(bare), min(open_))]


DEARER = 100
BUDGET = 0.01  # the default of max_overhead
LOOK_SECONDS = 0.2  # and a window of ten looks instead of a minute


class Dear:
    """Something of a probe's, taking a hundred times what it takes, and a count of what that comes to."""

    def __init__(self, probe: type, name: str, us: float) -> None:
        self.seconds = 0.0
        self.is_read = name == "read"  # which the watch's own thread does
        self._probe, self._name, self._original = probe, name, getattr(probe, name)
        original, wait = self._original, us * DEARER * 1e-6

        def dear(*args: Any) -> None:
            began = time.perf_counter()
            original(*args)
            while time.perf_counter() - began < wait:
                pass
            self.seconds += time.perf_counter() - began

        setattr(probe, name, dear)

    def undo(self) -> None:
        setattr(self._probe, self._name, self._original)


def budget_rows() -> List[Row]:
    """A probe becomes a hundred times dearer: what the watch takes of each second, once it has seen that."""
    watch = tfmemwatch.install(sample_seconds=NEVER_SECONDS, evidence=False)
    variable = tf.Variable(1.0)
    variables = next(probe for probe in watch.probes if isinstance(probe, Variables))
    traces = next(probe for probe in watch.probes if isinstance(probe, Traces))
    hook_us, read_us = best_us(lambda: variables._made(variable), 100), best_us(traces.read, 100)
    tfmemwatch.uninstall()
    # A read is so cheap that a hundred of them are still nothing at this interval: as if it took a whole 50 us.
    return [
        budget_row("a hook", Dear(Variables, "_made", hook_us)),
        budget_row("a read", Dear(Traces, "read", max(read_us, 50.0))),
    ]


def budget_row(what: str, dear: Dear) -> Row:
    watch = tfmemwatch.install(sample_seconds=LOOK_SECONDS, evidence=False, log=False, max_overhead=BUDGET)
    try:
        level, pause = watch.state.level, watch.state.pause
        budget = Budget(BUDGET, 10 * LOOK_SECONDS, patience=1000)
        if dear.is_read:
            pause.budget = budget
        else:
            level.budget = budget
        before = share_taken(watch, dear, 0.9)
        ends = time.monotonic() + 60
        while time.monotonic() < ends and not (budget.is_lowered and budget.share <= BUDGET):
            share_taken(watch, dear, 0.1)
        after = share_taken(watch, dear, 3.0)
        text = "%s %dx dearer, us of each second (before: %d; level: %s; a look each %.2g s)"
        said = text % (what, DEARER, before * 1e6, watch.level, pause.seconds)
        return Row(said, None, after * 1e6, most_us=BUDGET * 1e6)
    finally:
        tfmemwatch.uninstall()
        dear.undo()


def share_taken(watch: Any, dear: Dear, seconds: float) -> float:
    """What the watch takes of a program that makes variables for so long: its thread, and the dear one to the full."""

    def taken() -> float:
        hooks = sum(share for name, share in guard.spent.items() if not name.startswith("variables"))
        return watch.state.own_seconds + hooks + (0.0 if dear.is_read else dear.seconds)

    began, spent = time.perf_counter(), taken()
    while time.perf_counter() - began < seconds:
        tf.Variable(1.0)
    return (taken() - spent) / (time.perf_counter() - began)


# -- showing it

FORMAT = "%-58s %10s %10s %7s %9s %7s  %-16s %s"


def shown(row: Row) -> str:
    return FORMAT % (
        row.what,
        "" if row.bare_us is None else "%.2f" % row.bare_us,
        "%.2f" % row.watched_us,
        "" if row.ratio is None else "%.3f" % row.ratio,
        "" if row.added_us is None else "%+.2f" % row.added_us,
        "" if row.ratio is None else "%.3f" % row.noise,
        row.bound,
        row.ok,
    )


def as_dict(row: Row) -> dict:
    return dict(row._asdict(), ratio=row.ratio, added_us=row.added_us, bound=row.bound, ok=row.ok)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(description="What the watch costs, against the bare program in the same run.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, and so more noise")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of the table")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bound is missed")
    parser.add_argument("--wall", action="store_true", help="by the clock on the wall: for a machine that is quiet")
    parser.add_argument("--only", default="", metavar="WORD", help="only what has this word in its name")
    options = parser.parse_args(arguments)
    tf.compat.v1.enable_v2_behavior()
    tf.get_logger().setLevel("ERROR")
    if options.wall:
        Clock.now = staticmethod(time.perf_counter)
    seconds = 0.8 if options.quick else 8.0
    gc.collect()
    getattr(gc, "freeze", int)()  # TensorFlow's own objects need not be looked at in each collection
    if not options.json:
        print("TensorFlow %s, Python %s, %d cores" % (tf.__version__, sys.version.split()[0], os.cpu_count() or 0))
        print(FORMAT % ("what", "bare us", "watched us", "ratio", "added us", "noise", "bound", "ok"))
    rows: List[Row] = []
    for row in all_rows(options.only, seconds, options.quick):
        rows.append(row)
        if not options.json:
            print(shown(row), flush=True)
    if options.json:
        print(json.dumps([as_dict(row) for row in rows], indent=1, ensure_ascii=False))
    return int(options.strict and any(row.ok == "NO" for row in rows))


def all_rows(only: str, seconds: float, quick: bool) -> Iterator[Row]:
    for case in cases():
        if only in case.what:
            yield measure(case, seconds)
    for row in own_rows(quick):
        if only in row.what:
            yield row


if __name__ == "__main__":
    sys.exit(main())
