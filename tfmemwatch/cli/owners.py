"""`tfmemwatch owners`: whose bytes another process is made of."""

from __future__ import annotations

import argparse

from ..memory.account import Account
from . import other_process, printing
from .command import Command
from .exit_codes import WELL

_HELP = "Print the resident memory of a process by owner."


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    other_process.add_arguments(parser)
    printing.add_json(parser)


def run(chosen: argparse.Namespace) -> int:
    """Ask, and print the table."""
    told = other_process.ask("owners", chosen.door, chosen.pid, chosen.seconds)
    if chosen.json:
        printing.print_json(other_process.value_of(Account, told))
    else:
        printing.give(told if isinstance(told, str) else str(other_process.value_of(Account, told)))
    return WELL


COMMAND = Command("owners", _HELP, _add_arguments, run, _HELP + other_process.NOTE, "tfmemwatch owners --pid 4711")
