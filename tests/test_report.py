"""One value has everything that is known; text and JSON are made of it."""

import dataclasses
import json
import math

import pytest

import tfmemwatch
from tfmemwatch.explain.excerpts import Excerpt
from tfmemwatch.growth.history import History, plot
from tfmemwatch.growth.memory_verdict import Verdict
from tfmemwatch.headline import Headline, Known, Looked, headline
from tfmemwatch.memory.account import Account
from tfmemwatch.memory.forecast import Outlook
from tfmemwatch.memory.limits import Limit
from tfmemwatch.memory.process import Memory
from tfmemwatch.model import Finding, Key, Site, Tally
from tfmemwatch.monitor import rows
from tfmemwatch.monitor.moments import Moments
from tfmemwatch.monitor.snapshot import Diff, Snapshot
from tfmemwatch.outputs import text
from tfmemwatch.reports import (
    SCHEMA,
    Built,
    Calls,
    LeftOfModel,
    LevelNow,
    LivingModel,
    Made,
    Moment,
    OpenSessions,
    OwnCost,
    Program,
    Report,
    RetraceCause,
    Traced,
)

MIB = 1 << 20
LOOP = Site("/project/train.py", 41, "train_step")
MAIN = Site("/project/train.py", 7, "<module>")
MEMORY = Memory(412 * MIB, 300 * MIB, 12 * MIB, 1200000, None)


def tally(kind, site, born, died=0, size=0, seconds=0.0, note="", live=0):
    return {Key(kind, site): Tally(Key(kind, site), born, died, live, size, seconds, 0, note, ())}


def account(resident):
    return Account(0.0, resident, {"python": resident}, None, None, None, {}, {}, "glibc", ())


FINDING = Finding(
    kind="retrace", site=LOOP, since=3, grown=57, rate=1.0, per="step", bytes=int(41.2 * MIB), verdict="leak",
    cause="the tf.function train_step is traced again and again", cure="Pass tensors.", confidence=0.9,
    stack=(LOOP, MAIN), trail=(1.0, 2.0, 3.0),
)  # fmt: skip
FULL = Report(
    title="as of 14:02:11", seconds=1.0, findings=(FINDING,), memory=MEMORY,
    headline=Headline("LEAK", "LEAK at train.py:41 train_step()", "why"), memory_before=MEMORY,
    account=account(412 * MIB), account_before=account(400 * MIB), verdict=Verdict("leak", "it rises"),
    made=(Made("variable", MAIN, 12, 2, 8000),), traces=(Traced("train_step", LOOP, True, 56, 12.3, 41 * MIB),),
    builds=(Built("train_step", LOOP, 3, 1, 2.0, 1000),),
    retrace_causes=(RetraceCause("train_step", "lr", "a new Python float", LOOP, 56),),
    functions=40, orphan_functions=3, sessions=(OpenSessions(MAIN, 2, 30.0),),
    calls=(Calls("net", "predict", 3, 1, 100), Calls("net", "fit", 3, 200, 100, 0.5)),
    models=(LivingModel("net", 4, 100, 2, 0),), left_of_models=(LeftOfModel("old", MAIN, 4, 2, 100, "train.kept"),),
    limits=(Limit("container limit", 4 << 30, 1 << 30, True),),
    outlook=Outlook("container limit", 4 << 30, 60.0, 30.0, math.inf, 1e6, "container"),
    rise="the process has grown by 0.8 MiB an hour", history=(Moment(0.0, 1, None, {"variable": 3}),),
    sources=(Excerpt("/project/train.py", 41, 40, ("def train_step(x):", "    return x")),),
    program=Program(7, "here", "train.py", 1.0),
    off={"writers": "no summary writers"}, level="counts",
    level_since=1.0, level_why="its hooks took 1.4 % of the time and may take 1 %",
    own=OwnCost(0.1, 100, 7, 1.0, 0, {"traces": 1}),
    versions={"tensorflow": "2.21.0"},
)  # fmt: skip


def test_a_report_is_plain_json():
    """`json.dumps` takes it, and strictly: what is no number of JSON's is None."""
    told = json.loads(json.dumps(FULL.as_dict(), allow_nan=False))
    assert told["schema"] == SCHEMA
    assert told["findings"][0]["site"] == {"file": "/project/train.py", "line": 41, "function": "train_step"}
    assert told["findings"][0]["stack"][1]["line"] == 7
    assert [row["error_bytes"] for row in told["calls"]] == [None, 0.5]
    assert told["history"] == [
        {"at": 0.0, "resident_bytes": 1, "in_use_bytes": None, "alive": {"variable": 3}, "kept_bytes": None,
         "python_blocks": 0, "variables_bytes": 0}
    ]  # fmt: skip


def test_every_field_of_a_report_is_in_its_json():
    """Under its own name; a name that goes or gets another meaning needs another SCHEMA."""
    names = {field.name for field in dataclasses.fields(Report)}
    assert set(FULL.as_dict()) == names | {"schema"}
    assert SCHEMA == 1 and names == set(
        "title seconds findings memory headline memory_before account account_before verdict made traces builds "
        "retrace_causes baked_in functions orphan_functions sessions calls models left_of_models limits outlook rise "
        "history history_in sources program off level level_since level_why own versions is_of_block".split()
    )


def test_nothing_of_a_report_is_left_out_of_the_test_above():
    """Each field of the full report says something, so that each is seen to be JSON."""
    left_out = [field.name for field in dataclasses.fields(Report) if not getattr(FULL, field.name)]
    assert left_out == ["baked_in", "is_of_block"]


@pytest.mark.parametrize(
    "part",
    [
        "1 finding", "train.py:41 train_step() retraced 56×, 12 s, 41 MiB  (train_step)", "3 builds for 1 trace",
        "40 functions in TensorFlow's runtime; 3 of them have no owner", "2, the oldest open for",
        "net.predict", "Models alive", "old: 2 of 4 variables still alive (100 B), held by train.kept",
        "the process has grown by 0.8 MiB an hour", "nearest limit: container limit, 4 GiB, 3 GiB left",
        "at this rate the container limit", "writers: no summary writers", "412 MiB  +12 MiB",
        "The level is counts since ", ", because its hooks took 1.4 % of the time and may take 1 %",
    ],
)  # fmt: skip
def test_the_text_says_what_the_report_knows(part):
    """Each part of it, from the report alone."""
    assert part in text.render(FULL)


def test_at_level_off_nothing_is_said_to_be_clean():
    """What was not watched is not known."""
    off = LevelNow("off", "budget", "its hooks took 3 % of the time and may take 1 %", 0.0)
    told = headline(Known((), Looked(3600.0, 9999, 112), Verdict("steady", "level"), blind=str(off)))
    assert told.sentence.startswith("NOT WATCHED, because level is off since ") and "3 %" in told.sentence
    shown = text.render(dataclasses.replace(FULL, findings=(), level="off", headline=told))
    assert shown.startswith(told.sentence) and "→ " not in shown


def test_a_report_of_a_block_does_not_name_the_nearest_limit():
    """That is of the process."""
    assert "nearest limit" not in text.render(dataclasses.replace(FULL, is_of_block=True))


def test_rows_are_what_lies_between_two_readings():
    """What was there before does not count; what went in between does."""
    before = {**tally("variable", MAIN, 10, 1, live=4000), **tally("retrace", LOOP, 5, seconds=1.0, size=100)}
    after = {
        **tally("variable", MAIN, 12, 2, live=8000),
        **tally("retrace", LOOP, 8, seconds=3.0, size=500, note="step"),
        **tally("session", MAIN, 3, 3),
        **tally("xla_build", LOOP, 2, note="step"),
    }
    assert rows.made(before, after) == (Made("variable", MAIN, 2, 1, 4000), Made("session", MAIN, 3, 3, 0))
    assert rows.traced(before, after) == (Traced("step", LOOP, True, 3, 2.0, 400),)
    assert rows.built(before, after) == (Built("step", LOOP, 2, 3, 0.0, 0),)
    assert rows.made(after, after) == rows.traced(after, after) == rows.built(after, after) == ()


def test_open_sessions_are_summed_up_by_line():
    """The most first, with the age of the oldest."""
    ages = [(MAIN, 5.0), (LOOP, 1.0), (LOOP, 9.0)]
    assert rows.open_sessions(ages) == (OpenSessions(LOOP, 2, 9.0), OpenSessions(MAIN, 1, 5.0))


def test_two_snapshots_make_a_report_of_what_lies_between():
    """As text, and as counts."""
    one = Snapshot(title="", seconds=0.0, findings=(), memory=MEMORY, tallies=tally("variable", MAIN, 10))
    two = dataclasses.replace(one, seconds=60.0, tallies=tally("variable", MAIN, 13, 1))
    assert two.diff(one) == Diff(one, two)
    assert two.diff(one).alive() == {Key("variable", MAIN): 2}
    report = two.diff(one).report()
    assert report.made == (Made("variable", MAIN, 3, 1, 0),) and report.memory_before == MEMORY
    assert str(two.diff(one)) == str(report) == text.render(report)
    assert two.alive("variable") == 12


def test_history_is_read_only_where_it_is_kept():
    """A few moments of any length of time: what is not kept costs no reading."""
    moments, read = Moments(History()), []

    def tallies():
        read.append(1)
        return tally("variable", MAIN, len(read))

    for look in range(10000):
        moments.look(look, lambda: MEMORY, tallies)
    kept = moments.kept
    assert len(kept) <= 32 and len(read) < 300
    assert kept[0] == Moment(0, 412 * MIB, 300 * MIB, {"variable": 1}, MEMORY.kept_bytes, MEMORY.python_blocks)
    assert plot([moment.alive["variable"] for moment in kept])


def test_report_and_snapshot_of_the_process_are_reports():
    """With or without TensorFlow: a value, whose `str()` is the text."""
    tfmemwatch.install(sample_seconds=3600)
    try:
        report, snapshot = tfmemwatch.report(), tfmemwatch.snapshot()
    finally:
        tfmemwatch.uninstall()
    assert isinstance(report, tfmemwatch.Report) and isinstance(snapshot, tfmemwatch.Report)
    assert report.account is not None and snapshot.account is None
    assert str(report) == text.render(report) and report.title.startswith("as of ")
    assert str(report).startswith("NOT WATCHED, because ")  # for so short a time
    assert report.as_dict()["versions"]["tfmemwatch"] == tfmemwatch.__version__
    assert (report.level, report.is_of_block) == ("sites", False)
    json.dumps(report.as_dict(), allow_nan=False)


@pytest.mark.slow
def test_the_report_of_a_block_has_its_steps_as_history():
    """One moment a step at first, then fewer."""
    with tfmemwatch.watch("epoch") as block:
        for _ in range(5):
            block.step()
    report = block.report()
    assert isinstance(report, tfmemwatch.Report) and report.is_of_block
    assert report.title.startswith("epoch: 5 steps, ")
    assert [moment.at for moment in report.history] == [1, 2, 3, 4, 5]
    json.dumps(report.as_dict(), allow_nan=False)
