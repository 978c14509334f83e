"""A report reads well."""

import logging
import textwrap
import time

import pytest

from tfmemwatch.headline import Headline
from tfmemwatch.memory.process import Memory
from tfmemwatch.model import FILLING, LEAK, Finding, Key, Site, Tally
from tfmemwatch.monitor import rows
from tfmemwatch.outputs import log, text
from tfmemwatch.reports import Report
from tfmemwatch.units import count_of, size_of

MIB = 1 << 20
LOOP = Site("/project/train.py", 41, "train_step")
MAIN = Site("/project/train.py", 7, "<module>")


def tally(kind, site, born, died=0, size=0, seconds=0.0, note=""):
    return {Key(kind, site): Tally(Key(kind, site), born, died, size, size, seconds, 0, note, ())}


FINDING = Finding(
    kind="retrace", site=LOOP, since=3, grown=57, rate=1.0, per="step", bytes=int(41.2 * MIB), verdict="leak",
    cause="the tf.function train_step is traced again and again", cure="Pass tensors.", confidence=0.9,
)  # fmt: skip
FOUND = Headline("LEAK", "LEAK at train.py:41 train_step() (retrace, 41.2 MiB kept)", FINDING.cause)
CLEAN = Headline("CLEAN", "CLEAN (watched for 12 s, 57 steps)")
BEFORE = {**tally("variable", MAIN, 10, 0, 4096)}
AFTER = {
    **tally("variable", MAIN, 12, 0, 8192),
    **tally("function_graph", LOOP, 57),
    **tally("retrace", LOOP, 56, 0, 41 * MIB, 12.3, "train_step"),
    **tally("session", MAIN, 3, 3),
}
MEMORY = Memory(412 * MIB, 300 * MIB, 12 * MIB, 1200000), Memory(453 * MIB, int(341.2 * MIB), 11 * MIB, 1234567)


def rendered(title, findings, before, after, memory, off, rise="", headline=CLEAN):
    """The text of a report on what lies between two readings."""
    return text.render(Report(
        title=title, seconds=0.0, findings=tuple(findings), memory_before=memory[0], memory=memory[1],
        made=rows.made(before, after), traces=rows.traced(before, after), builds=rows.built(before, after), off=off,
        rise=rise, is_of_block=True, headline=headline,
    ))  # fmt: skip


REPORT = """\
    LEAK at train.py:41 train_step() (retrace, 41.2 MiB kept)
      the tf.function train_step is traced again and again

    tfmemwatch · epoch: 57 steps, 12.4 s

    1 finding
      retrace  train.py:41 train_step()
          the tf.function train_step is traced again and again
          +57, 1 a step since step 3, 41.2 MiB kept (740 KiB a step)
          → Pass tensors.

    Made, freed and still alive      line                         made    freed    alive
      traces kept                    train.py:41 train_step()       57        0      +57
      variables                      train.py:7 <module>             2        0       +2  4 KiB
      sessions                       train.py:7 <module>             3        3       +0

    Traces
      train.py:41 train_step() retraced 56×, 12 s, 41 MiB  (train_step)

    Memory
      resident            453 MiB  +41 MiB
      malloc in use       341 MiB  +41.2 MiB
      malloc kept          11 MiB  −1 MiB
      Python blocks     1,234,567  +34567

    Not watched here
      writers: this TensorFlow has no summary writers
    """


def test_a_report_says_what_was_found_made_and_kept():
    """The whole text as a person reads it: the finding first, with its line and its cure."""
    off = {"writers": "this TensorFlow has no summary writers"}
    report = rendered("epoch: 57 steps, 12.4 s", [FINDING], BEFORE, AFTER, MEMORY, off, headline=FOUND)
    assert report == textwrap.dedent(REPORT)


def test_a_clean_report_says_so():
    """Nothing found is said, not left to be guessed."""
    report = rendered("epoch", [], {}, {}, (None, MEMORY[0]), {})
    assert report.splitlines()[:5] == [
        "CLEAN (watched for 12 s, 57 steps)", "", "tfmemwatch · epoch", "", "Nothing that is counted was made.",
    ]  # fmt: skip


def test_memory_that_is_not_known_is_left_out():
    """Where the system does not say, nothing is made up."""
    report = rendered("epoch", [], {}, {}, (None, Memory(None, None, None, 5)), {})
    assert report.splitlines()[-2:] == ["Memory", "  Python blocks             5"]


def test_a_long_report_is_cut_and_says_how_much():
    """Hundreds of lines of generated code do not hide the first ones."""
    after = {}
    for line in range(100):
        after.update(tally("variable", Site("a.py", line + 1, "f"), 100 + line))
    lines = rendered("epoch", [], {}, after, (None, MEMORY[0]), {}).splitlines()
    assert "a.py:100 f()" in lines[5]
    assert "  … and 76 more lines" in lines


def test_a_finding_is_one_sentence_with_its_line():
    """As it stands in the log."""
    assert str(FINDING) == (
        "train.py:41 train_step(): the tf.function train_step is traced again and again; "
        "+57 so far, 1 a step; 41.2 MiB kept. Pass tensors."
    )


def test_a_finding_says_who_holds_it_and_what_would_tell_more():
    """Where it is known."""
    finding = FINDING._replace(holder="Trainer.history", more="level='stacks' would show who called it", bytes=0)
    assert "; held by Trainer.history. " in str(finding)
    assert str(finding).endswith("[level='stacks' would show who called it]")


def test_numbers_are_said_as_a_person_says_them():
    """Rounded, with a unit."""
    sizes = [size_of(number) for number in (0, 1023, 1260, 41.2 * MIB, -2.5 * MIB, 1023 * MIB, 3.21 * 1024 * MIB)]
    assert sizes == ["0 B", "1023 B", "1.23 KiB", "41.2 MiB", "-2.5 MiB", "1023 MiB", "3.21 GiB"]
    assert [count_of(number) for number in (0, 0.25, 57, 12000)] == ["0", "0.25", "57", "12,000"]


def test_at_level_stacks_a_finding_says_who_called():
    """The line first, then whoever called it, outwards."""
    called = FINDING._replace(stack=(LOOP, MAIN))
    assert "Called by train.py:7 <module>." in str(called)
    assert "called by train.py:7 <module>" in rendered("now", [called], {}, {}, (None, MEMORY[1]), {})


def test_a_finding_tells_why_who_holds_it_and_what_to_write():
    """The reasons by argument, the way to what is held, the plot, the code and the issue, each on its line."""
    finding = FINDING._replace(
        why="57 traces of `step`: `lr` a new Python float each time (57)",
        examples=("x: float32[32] → float32[7]",),
        suggestion="step(x, tf.constant(lr))  # 57 traces become 1",
        short="`tf.constant(lr)` (57 traces become 1)",
        holder="train.history (57 items) → Thing", known="Known as tf#38561.", trail=(1, 2, 3, 4),
    )  # fmt: skip
    report = rendered("epoch", [finding], {}, {}, MEMORY, {})
    wanted = """\
          +57, 1 a step since step 3, 41.2 MiB kept (740 KiB a step), held by train.history (57 items) → Thing  ▁▃▆█
          57 traces of `step`: `lr` a new Python float each time (57)
            x: float32[32] → float32[7]
          → Pass tensors.
              step(x, tf.constant(lr))  # 57 traces become 1
          Known as tf#38561.
    """
    assert textwrap.indent(textwrap.dedent(wanted), "      ").rstrip() in report
    line = str(finding)
    assert "each time (57). Cure: `tf.constant(lr)` (57 traces become 1). Known as tf#38561." in line
    assert "\n" not in line


@pytest.mark.parametrize("verdict, level", [(LEAK, logging.WARNING), (FILLING, logging.INFO)])
@pytest.mark.parametrize("state", ["leak", "over"])
def test_only_what_is_sure_is_a_warning(caplog, verdict, level, state):
    """What may be a cache that still fills is told at level INFO, and so is its end."""
    caplog.set_level(logging.INFO, "tfmemwatch")
    log.tell(FINDING._replace(verdict=verdict, state=state))
    assert [record.levelno for record in caplog.records] == [level]


def test_a_holder_that_the_cause_names_is_not_named_twice():
    """`tensors are put into train.losses …; held by train.losses` says it twice."""
    said = FINDING._replace(cause="tensors are put into train.losses", holder="train.losses")
    assert "held by" not in str(said)
    assert "held by train.losses" in str(FINDING._replace(holder="train.losses"))


def test_growth_by_the_clock_has_the_time_at_which_it_began():
    """In the log and in the report, as a clock says it; in a block it is the step."""
    began = time.mktime((2026, 11, 19, 14, 2, 0, 0, 0, -1))
    finding = FINDING._replace(per="hour", rate=82.0, since=3600.0, began=began)
    assert "+57 so far, 82 an hour; since 14:02 (19 " in str(finding)
    assert "since" not in str(FINDING)
    assert "+57, 82 an hour since 14:02 (19 " in rendered("x", [finding], {}, {}, MEMORY, {})


def test_growth_that_no_count_tells_has_its_bytes_in_time():
    """By the hour or the step, in the log and in the report; what is known by its count has them in the report."""
    finding = FINDING._replace(grown=0, rate=0.0, per="hour", leaves=800.0 * 1024)
    assert "; +800 KiB an hour; 41.2 MiB kept" in str(finding)
    assert "growing, 41.2 MiB kept (800 KiB a step)" in rendered(
        "x", [finding._replace(per="step")], {}, {}, MEMORY, {}
    )
    assert "+2 MiB a second" in str(finding._replace(leaves=7200.0 * MIB))
    assert "KiB a step" not in str(FINDING)


def test_the_report_says_how_fast_the_process_grows():
    """Whatever is found, and whether or not there is a limit."""
    report = rendered("x", [], {}, {}, MEMORY, {}, rise="the process has grown by 0.8 MiB an hour")
    assert report.splitlines()[-1] == "  the process has grown by 0.8 MiB an hour"
    assert "the process grows" not in rendered("x", [], {}, {}, MEMORY, {})
