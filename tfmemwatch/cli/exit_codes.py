"""How a command ends, as a number: the one table.

Numbers that programs use themselves are left alone where `run` passes theirs on: Python ends with 1 or 2 (and 120 where
the last output is lost), shells with 126 and more, `timeout` with 124, sysexits with 64 to 78.
"""

from __future__ import annotations

from typing import Dict

WELL, NOT_WELL, USAGE, NO_ANSWER, NOT_WRITTEN, LEAK, INTERRUPTED, NO_READER = 0, 1, 2, 3, 4, 100, 130, 141

MEANINGS: Dict[int, str] = {
    WELL: "all is well",
    NOT_WELL: "what was asked for is not possible here: TensorFlow can't be imported, or a remedy can't be tried",
    USAGE: "a command, an option, a setting or a file that can't be used; nothing was done",
    NO_ANSWER: "the process does not answer, or the recording can't be read",
    NOT_WRITTEN: "the result could not be written",
    LEAK: "a leak was found, with --fail-on (run: and the program itself ended with 0)",
    INTERRUPTED: "interrupted by Ctrl-C",
    NO_READER: "the reader of the output has gone",
}


def table() -> str:
    """As the help shows it."""
    rows = ["exit codes (run: that of the program, or the signal that ended it):"]
    return "\n".join(rows + ["  %3d  %s" % row for row in MEANINGS.items()]) + "\n"
