"""`tfmemwatch compare`: did the fix help?"""

from __future__ import annotations

import argparse

from ..outputs.comparison import compare
from ..outputs.recording import load
from . import printing
from .command import Command
from .exit_codes import LEAK, WELL
from .report import add_fail_on

_HELP = "Compare two recordings: did the fix help?"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="the recording of the program as it was")
    parser.add_argument("after", metavar="AFTER", help="and as it is now")
    printing.add_json(parser)
    printing.add_output(parser)
    add_fail_on(parser)


def run(chosen: argparse.Namespace) -> int:
    """Read both, and say what has become of each finding."""
    before, after = load(chosen.before), load(chosen.after)
    found = compare(before.last, after.last)
    if chosen.json:
        printing.print_json(dict(found._asdict(), verdict=found.verdict), chosen.output)
    else:
        notes = ["%s: %s" % (one.path, note) for one in (before, after) for note in one.notes]
        printing.give(str(found) + "".join("\n" + note for note in notes) + ("\n" if notes else ""), chosen.output)
    return LEAK if chosen.fail_on and found.leaks else WELL


COMMAND = Command("compare", _HELP, _add_arguments, run, example="tfmemwatch compare before.tfmw after.tfmw")
