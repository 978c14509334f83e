"""`tfmemwatch remedies`: try in another process what may give memory back."""

from __future__ import annotations

import argparse
import sys

from ..errors import ConfigError
from ..memory.remedy import NAMES, Trial
from . import other_process, printing
from .command import Command
from .exit_codes import NOT_WELL, WELL
from .parser import did_you_mean

_HELP = "Try in a process what may give memory back: a collection, the remedies named, a trim."
_EXAMPLE = "tfmemwatch remedies kernels --pid 4711"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    other_process.add_arguments(parser)
    printing.add_json(parser)
    parser.add_argument("names", nargs="*", metavar="name", help="one of " + ", ".join(NAMES))
    parser.add_argument("--function", help="the tf.function whose traces are to be dropped")


def run(chosen: argparse.Namespace) -> int:
    """Ask, and print what came back; one that was not possible is said, and is not well."""
    for name in chosen.names:
        if name not in NAMES:
            meant = did_you_mean(name, NAMES) or "; it must be one of " + ", ".join(NAMES)
            raise ConfigError("%r is not a remedy%s" % (name, meant))
    asked = {"names": chosen.names, "function": chosen.function}
    told = other_process.ask("remedies", chosen.door, chosen.pid, chosen.seconds, **asked)
    if isinstance(told, str) and not chosen.json:
        printing.give(told)
        return WELL
    trial: Trial = other_process.value_of(Trial, told)
    if chosen.json:
        printing.print_json(trial)
    else:
        printing.give(str(trial))
    failed = [one for one in trial.outcomes if one.note.startswith(("not possible", "it failed"))]
    named = [one for one in failed if one.name in chosen.names]
    for one in named:
        sys.stderr.write("tfmemwatch: %s: %s\n" % (one.name, one.note))
    return NOT_WELL if named else WELL


COMMAND = Command("remedies", _HELP, _add_arguments, run, _HELP + other_process.NOTE, _EXAMPLE)
