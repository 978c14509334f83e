"""How a command gives out a file that is made from the catalogue: printed, or written."""

from __future__ import annotations

import argparse
from typing import Callable

from .exit_codes import WELL
from .printing import add_output, give


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to."""
    add_output(parser)


def giving(make: Callable[[], str]) -> Callable[[argparse.Namespace], int]:
    """A command that makes a text, and prints or writes it."""

    def run(chosen: argparse.Namespace) -> int:
        give(make(), chosen.output)
        return WELL

    return run
