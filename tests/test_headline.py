"""A report begins with one of five words, and with none that is not known to be so."""

import pytest

import tfmemwatch
from tfmemwatch.growth.memory_verdict import Verdict
from tfmemwatch.growth.rules import COUNT_EVENTS
from tfmemwatch.headline import WORDS, Growing, Known, Looked, headline
from tfmemwatch.judge.judge import Judge
from tfmemwatch.model import FILLING, LEAK, RETAINED, UNKNOWN, Finding, Key, Site, Tally

MIB = 1 << 20
LINE = Site("/project/train.py", 41, "step")
LONG = Looked(1860.0, 1860, 112)
BLOCK = Looked(12.0, 12000, 32, "step")
STEADY = Verdict("steady", "memory use is level")
RISING = Verdict("leak", "memory in use rises, by 656 MiB in the last third of the time")


def finding(kind="retrace", site=LINE, verdict=LEAK):
    return Finding(
        kind=kind, site=site, since=0, grown=57, rate=1.0, per="hour", bytes=int(41.2 * MIB), verdict=verdict,
        cause="what happens", cure="what to do", confidence=0.9,
    )  # fmt: skip


CASES = [
    (Known([finding(), finding()], LONG), "LEAK at train.py:41 step() (retrace, 41.2 MiB kept), and 1 more"),
    (Known([finding()], LONG, blind="level is off"), "LEAK at train.py:41 step() (retrace, 41.2 MiB kept)"),
    (Known([finding(site=UNKNOWN)], LONG), "LEAK at <unknown line> (retrace, 41.2 MiB kept)"),
    (Known([finding(verdict=FILLING)], LONG), "GROWING, too early to tell"),
    (Known([], LONG._replace(growing=Growing("+9", 40, 112))), "GROWING, too early to tell (40 of about 112 looks)"),
    (Known([], Looked(5.0, 10, 32, "step", left=("2 models",))), "GROWING, too early to tell (10 of about 32 steps)"),
    (Known([], Looked(90.0, 90, 112), RISING), "GROWING, too early to tell (90 of about 112 looks)"),
    (Known([], LONG, Verdict("filling", "it slows down")), "GROWING, too early to tell"),
    (Known([], LONG, RISING), "MEMORY RISES, no line known"),
    (Known([], LONG, STEADY, ahead="the container limit is reached in 3 h"), "MEMORY RISES, no line known"),
    (Known([finding("native_heap", UNKNOWN)], LONG), "MEMORY RISES, no line known"),
    (Known([finding("fragmentation", UNKNOWN, RETAINED)], LONG), "MEMORY RISES, no line known"),
    (Known([], LONG, RISING, unwatched="TensorFlow has not been imported"), "MEMORY RISES, no line known"),
    (Known([], LONG, STEADY), "CLEAN (watched for 31 min, 1,860 looks)"),
    (Known([], BLOCK, STEADY), "CLEAN (watched for 12 s, 12,000 steps)"),
    (Known([], BLOCK._replace(left=("2 variables",)), STEADY), "CLEAN (watched for 12 s, 12,000 steps)"),
    (Known([], Looked(0.2, 0, 32, "step")), "CLEAN (watched for 0 s)"),
    (Known([], LONG, RISING, blind="level is off"), "NOT WATCHED, because level is off"),
    (Known([], LONG, STEADY, unwatched="no probe is up"), "NOT WATCHED, because no probe is up"),
    (Known([], Looked(12.0, 12, 112)), "NOT WATCHED, because it has only begun (12 s, 12 of about 112 looks)"),
    (Known([], Looked(12.0, 240, 112)), "NOT WATCHED, because it has only begun (12 s of at least 60 s)"),
]  # fmt: skip


@pytest.mark.parametrize("known, sentence", CASES, ids=[sentence for _, sentence in CASES])
def test_what_is_known_has_one_headline(known, sentence):
    """A leak before all, then what may be one; «clean» only after looking, for so long, with nothing against it."""
    told = headline(known)
    assert told.sentence == sentence and told.word in WORDS and sentence.startswith(told.word)


def tallies(count):
    key = Key("function_graph", LINE)
    return {key: Tally(key, count, 0, 0, 0, 0.0, 0, "step", ())}


def test_a_count_that_climbs_is_said_to_grow_until_it_is_told():
    """From the sixth climb on there is no word of «clean»; the way to a verdict is said, and gets shorter."""
    judge, said = Judge(COUNT_EVENTS, "hour"), []
    for look in range(1, 113):
        judge.look(tallies(look), float(look))
        said.append(judge.growing())
    begun = [one for one in said[6:] if one is not None]
    assert len(begun) >= 100 and begun[-1].what == "+111 traces kept at train.py:41 step()"
    left = [one.needed - one.seen for one in begun]
    assert left[0] > 90 and left[-1] <= 4 and all(later <= earlier + 2 for earlier, later in zip(left, left[1:]))


@pytest.mark.parametrize("count", [lambda look: min(look, 40), lambda look: 40 + look % 7], ids=["warm-up", "flight"])
def test_what_has_stopped_or_comes_and_goes_does_not_grow(count):
    """A warm-up that is over, or calls in flight."""
    judge = Judge(COUNT_EVENTS, "hour")
    for look in range(1, 1001):
        judge.look(tallies(count(look)), float(look))
    assert judge.growing() is None


@pytest.mark.slow
def test_a_block_says_how_many_steps_it_was_clean():
    """With what is counted before and after, a short block can be clean; without TensorFlow none is."""
    with tfmemwatch.watch("epoch") as block:
        for _ in range(5):
            block.step()
    told = block.report().headline
    assert told.word in ("CLEAN", "NOT WATCHED") and ("TensorFlow" in told.sentence or "5 steps" in told.sentence)
