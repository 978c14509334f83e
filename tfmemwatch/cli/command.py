"""What a command is. Each has a file of its own, and a row in `main.COMMANDS`."""

from __future__ import annotations

import argparse
from typing import Callable, NamedTuple


class Command(NamedTuple):
    """One command of `python -m tfmemwatch`."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]  # with the arguments; 0 where all is well
    description: str = ""  # above its arguments


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""
