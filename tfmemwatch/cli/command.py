"""What a command is. Each has a file of its own, and a row in `main.COMMANDS`."""

from __future__ import annotations

import argparse
from typing import Callable, NamedTuple


class Command(NamedTuple):
    """One command of `tfmemwatch`."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]  # with the arguments; a number of `exit_codes`
    description: str = ""  # above its arguments
    example: str = ""  # with which its help begins


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""
