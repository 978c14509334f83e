"""How a command gives out its result: printed or written to a file, in colours on a terminal alone."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import Any, Optional, TextIO

from ..monitor.control_socket import shown
from ..reports import plain

_COLOURS = {"bold": "1", "red": "1;31", "green": "32", "dim": "2"}
_PAINTED = (  # lines of a report
    (re.compile(r"tfmemwatch · .*"), "bold"),
    (re.compile(r"LEAK\b.*|Worse: .*|Still leaks.*"), "red"),
    (re.compile(r"GROWING\b.*|MEMORY RISES\b.*|NOT WATCHED\b.*|Not known yet: .*"), "bold"),
    (re.compile(r"CLEAN\b.*|No leak .*|Fixed: .*"), "green"),
    (re.compile(r" +→ .*"), "green"),
    (re.compile(r"The level is .*"), "dim"),
)


def add_json(parser: argparse.ArgumentParser) -> None:
    """For programs that read it."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where to."""
    parser.add_argument("--output", metavar="FILE", help="write to this file")


def print_json(value: Any, output: Optional[str] = None) -> None:
    """Plain values, as JSON."""
    give(json.dumps(plain(value), indent=2) + "\n", output)


def give(text: str, output: Optional[str] = None, stream: Optional[TextIO] = None, is_raw: bool = False) -> None:
    """Print a text, or write it to a file; OSError where that is not possible.

    What would steer a terminal is spelled out: names come from other processes and from files.
    """
    if output is not None:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
        return
    to = sys.stdout if stream is None else stream
    if not is_raw:
        text = painted(shown(text)) if has_colours(to) else shown(text)
    encoding = to.encoding or "utf-8"
    to.write(text.encode(encoding, "replace").decode(encoding))
    to.flush()


def has_colours(stream: TextIO) -> bool:
    """Whether a person looks at it, who has not asked for none (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str) -> str:
    """A report with its findings and cures in colours."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    colour = next((colour for form, colour in _PAINTED if form.fullmatch(line)), None)
    return paint(line, colour) if colour else line


def paint(text: str, colour: str) -> str:
    """In this colour, whoever looks."""
    return "\033[%sm%s\033[0m" % (_COLOURS[colour], text)
