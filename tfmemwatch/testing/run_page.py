"""What the tests of a run have left behind, as one page that asks for nothing else."""

from __future__ import annotations

import os
from typing import Sequence

from .. import html
from ..outputs.folder import replace
from ..units import count_of, size_of
from .left import Left


def page_of(rows: Sequence[Left], tests: int) -> str:
    """The whole page."""
    watched = "%s test%s watched, %s left something behind." % (count_of(tests), "s"[: tests != 1], count_of(len(rows)))
    cells = [(size_of(row.bytes), row.test, row.counts, ", ".join(row.lines), row.note) for row in rows]
    return html.page(
        "What tests left behind",
        html.line(watched, "leak" if rows else "fine"),
        html.table(("left", "test", "of what is counted", "lines", ""), cells, numbers=(0,)),
        html.line("What is left once may be a cache. @pytest.mark.tfmemwatch says whether a test leaks.", "dim"),
    )


def write(path: str, rows: Sequence[Left], tests: int) -> str:
    """Write it, and say so; a file that can't be written fails no run."""
    try:
        replace(path, path + ".%d.part" % os.getpid(), page_of(rows, tests).encode("utf-8"))
    except OSError as error:
        return "the page was not written: %s" % error
    return "written: %s" % path
