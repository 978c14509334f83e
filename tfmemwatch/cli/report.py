"""`tfmemwatch report`: what is known of a process that runs, or of one that was recorded."""

from __future__ import annotations

import argparse

from ..outputs.recording import with_children
from ..reports import Report
from . import other_process, printing
from .command import Command
from .exit_codes import LEAK, WELL
from .formats import HTML, JSON, MARKDOWN, TEXT, Shown

_HELP = "Print the report of a process, or of a recording."
_EXAMPLE = "tfmemwatch report run.tfmw\ntfmemwatch report --pid 4711 --json"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("of", nargs="?", metavar="RECORDING|PID", help="a file that was recorded, or a process")
    other_process.add_arguments(parser)
    form = parser.add_mutually_exclusive_group()
    for name in (JSON, HTML, MARKDOWN):
        form.add_argument("--" + name, dest="form", action="store_const", const=name, help="as " + name)
    printing.add_output(parser)
    add_fail_on(parser)


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """For CI."""
    parser.add_argument("--fail-on", choices=("leak",), help="end with %d where a leak was found" % LEAK)


def run(chosen: argparse.Namespace) -> int:
    """Find it, and give it out."""
    shown = of(chosen)
    printing.give(shown.as_(chosen.form or TEXT), chosen.output)
    return LEAK if chosen.fail_on and shown.leaks else WELL


def of(chosen: argparse.Namespace) -> Shown:
    """What was asked for: a file, or a process."""
    if chosen.of is not None and not chosen.of.isdigit():
        recording, children = with_children(chosen.of)
        return Shown(recording=recording, children=children)
    pid = int(chosen.of) if chosen.of is not None else chosen.pid
    told = other_process.ask("report", chosen.door, pid, chosen.seconds)
    return Shown(other_process.value_of(Report, told))


COMMAND = Command("report", _HELP, _add_arguments, run, _HELP + other_process.NOTE, _EXAMPLE)
