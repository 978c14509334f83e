"""The screen of `tfmemwatch live`: lines of any size."""

import dataclasses

import pytest
from test_recording import REPORT

from tfmemwatch.headline import CLEAN, LEAK, Headline
from tfmemwatch.memory.limits import Limit
from tfmemwatch.model import Site
from tfmemwatch.outputs.screen import Look, screen
from tfmemwatch.reports import Made

ROWS = tuple(Made("variable", Site("train.py", line, "step"), 2 * line, 0, 0) for line in range(1, 41))
TRAILS = {("variable", "train.py:7 step()"): (1, 5, 14), ("variable", "train.py:40 step()"): (80, 80, 80)}
LEAKS = Headline(LEAK, "LEAK at train.py:41 step()", "it grows")
LOOK = Look(dataclasses.replace(REPORT, made=ROWS, headline=LEAKS), "now", (1, 2, 3), (1, 2, 3), TRAILS)


def texts(look, wide=80, high=24):
    return [line.text for line in screen(look, wide, high)]


@pytest.mark.parametrize("wide, high", [(80, 24), (200, 60), (40, 10), (20, 3), (1, 1), (0, 0)])
def test_it_fits_any_terminal(wide, high):
    """No line is wider, none is more than there is room for."""
    lines = texts(LOOK, wide, high)
    assert len(lines) <= high and all(len(line) <= max(1, wide) for line in lines)


def test_the_first_lines_say_memory_against_its_limit_and_what_leaks():
    """At 80 × 24."""
    lines = texts(LOOK)
    assert "tfmemwatch · as of 14:02 · now" in lines[0]
    assert lines[1].startswith("resident") and "50 % of the container limit, 1 GiB" in lines[1]
    assert "LEAK at train.py:41 step()" in lines
    assert any("→" in line for line in lines)
    assert lines[-1].startswith("q quit") and "more below" in lines[-1]


def test_what_grows_comes_first_with_its_plot():
    """Or what there is most of, or by name, as was chosen."""

    def first(sort):
        lines = texts(LOOK._replace(sort=sort), 100, 60)
        return lines[next(n for n, line in enumerate(lines) if "alive, by" in line) + 1]

    assert "train.py:7 " in first("growth") and "▁" in first("growth") and "+13" in first("growth")
    assert "train.py:40 " in first("number")
    assert "train.py:1 " in first("name")


def test_one_can_scroll_to_the_end_and_no_further():
    """The last row is reached."""
    assert any("train.py:1 " in line for line in texts(LOOK._replace(sort="number", first=10**6)))


def test_why_nothing_new_comes_is_said():
    """In a line of its own, in red."""
    lines = screen(LOOK._replace(state="process 7 has ended", is_failing=True), 80, 24)
    assert (lines[1].text, lines[1].colour) == ("process 7 has ended", "red")


def test_without_findings_it_says_how_long_it_has_looked():
    """An empty screen tells something."""
    clean = Headline(CLEAN, "CLEAN (watched for 31 min)", "nothing grows")
    lines = texts(LOOK._replace(report=dataclasses.replace(REPORT, findings=(), headline=clean)))
    assert "CLEAN (watched for 31 min)" in lines and "  nothing grows" in lines


def test_a_limit_that_is_near_is_red():
    """Before it is reached."""
    near = dataclasses.replace(REPORT, limits=(Limit("container limit", 100, 95, True),))
    assert screen(LOOK._replace(report=near), 80, 24)[1].colour == "red"
