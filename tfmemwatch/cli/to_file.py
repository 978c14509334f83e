"""How a command gives out a file that is made from the catalogue: printed, or written."""

from __future__ import annotations

import argparse
import sys
from typing import Callable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to."""
    parser.add_argument("--output", metavar="FILE", help="write to this file")


def giving(make: Callable[[], str]) -> Callable[[argparse.Namespace], int]:
    """A command that makes a text, and prints or writes it."""

    def run(chosen: argparse.Namespace) -> int:
        text = make()
        if chosen.output is None:
            print(text, end="")
            return 0
        try:
            with open(chosen.output, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            print("tfmemwatch: --output is %r, which can't be written: %s" % (chosen.output, error.strerror),
                  file=sys.stderr)  # fmt: skip
            return 2
        return 0

    return run
