"""`python -m tfmemwatch`: parses the command line, and calls the command."""

from __future__ import annotations

import argparse
import sys
from typing import Dict, List, Optional, Tuple

from .. import __version__
from ..errors import TfmemwatchError
from . import dashboard, doctor, owners, remedies, report, rules
from .command import Command

COMMANDS: Tuple[Command, ...] = (
    doctor.COMMAND,
    dashboard.COMMAND,
    rules.COMMAND,
    owners.COMMAND,
    remedies.COMMAND,
    report.COMMAND,
)
BY_NAME: Dict[str, Command] = {command.name: command for command in COMMANDS}


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; 0 where all is well."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 2
    try:
        return BY_NAME[chosen.command].run(chosen)
    except TfmemwatchError as error:
        print("tfmemwatch: %s" % error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tfmemwatch", description="Names the line that leaks memory.")
    parser.add_argument("--version", action="version", version="tfmemwatch " + __version__)
    commands = parser.add_subparsers(dest="command")
    for command in COMMANDS:
        command.add_arguments(
            commands.add_parser(command.name, help=command.help, description=command.description or None)
        )
    return parser
