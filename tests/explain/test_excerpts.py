"""The source around a line, as far as it can be read."""

import pytest

from tfmemwatch.explain.excerpts import excerpts
from tfmemwatch.model import UNKNOWN, Site


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("".join("line %d\n" % number for number in range(1, 21)) + "x" * 10_000 + "\n")
    return path


@pytest.mark.parametrize("line, first, last", [(10, 6, 14), (1, 1, 5), (20, 16, 21)])
def test_some_lines_on_either_side_are_shown(file, line, first, last):
    """With their numbers, and no line without end."""
    (found,) = excerpts([Site(str(file), line, "f"), Site(str(file), line, "g")], began=1e12)
    assert (found.line, found.first, len(found.lines)) == (line, first, last - first + 1)
    assert found.lines[line - first] == "line %d" % line and max(map(len, found.lines)) <= 240
    assert not found.is_newer


def test_a_file_that_has_changed_since_is_said_to(file):
    """Its lines may be others than those that run."""
    assert excerpts([Site(str(file), 3, "f")], began=0.0)[0].is_newer


@pytest.mark.parametrize("site", [UNKNOWN, Site("/nowhere.py", 3, "f"), Site("<string>", 1, "f")])
def test_what_cannot_be_read_is_left_out(site):
    """A line that nobody knows, a file that is gone."""
    assert excerpts([site], began=0.0) == ()


def test_a_line_beyond_the_end_is_left_out(file):
    """The file has become shorter."""
    assert excerpts([Site(str(file), 99, "f")], began=0.0) == ()


def test_there_are_twelve_at_most(file):
    """However many findings there are."""
    assert len(excerpts([Site(str(file), line, "f") for line in range(1, 20)], began=0.0)) == 12
