"""`tfmemwatch remedies`: try in another process what may give memory back."""

from __future__ import annotations

import argparse

from ..memory.remedy import NAMES
from . import other_process
from .command import Command

_HELP = "Try in a process what may give memory back: a collection, the remedies named, a trim."


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    other_process.add_arguments(parser)
    parser.add_argument("names", nargs="*", metavar="name", help="one of " + ", ".join(NAMES))
    parser.add_argument("--function", help="the tf.function whose traces are to be dropped")


COMMAND = Command("remedies", _HELP, _add_arguments, other_process.ask, _HELP + other_process.NOTE)
