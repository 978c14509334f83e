"""`tfmemwatch`, or `python -m tfmemwatch`: finds the command, reads its arguments, and runs it.

Only the command that is meant is imported, and TensorFlow by none of them but `doctor` and `demo`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import Dict, List, Optional

from .. import __version__
from ..errors import ConfigError, TfmemwatchError
from .command import Command
from .exit_codes import INTERRUPTED, NO_ANSWER, NO_READER, NOT_WRITTEN, USAGE, WELL, table
from .parser import Parser, did_you_mean

COMMANDS: Dict[str, str] = {  # each is a file beside this one; what its help says in a line
    "demo": "Run a small program with a leak, and see it named.",
    "run": "Run a program, unchanged, and print at its end what leaks.",
    "live": "Look at a process while it runs, as `top` does.",
    "report": "Print the report of a process, or of a recording.",
    "compare": "Compare two recordings: did the fix help?",
    "owners": "Print the resident memory of a process by owner.",
    "remedies": "Try in a process what may give memory back: a collection, the remedies named, a trim.",
    "doctor": "Say what can be watched in this environment, and what can't and why.",
    "rules": "Print recording and alerting rules for Prometheus.",
    "dashboard": "Print a Grafana dashboard of the metrics.",
    "completion": "Print what completes these commands in a shell.",
}


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command: a number of `exit_codes`, or that of the program under `run`."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        sys.stderr.write(help_text())
        return USAGE
    if words[0] in ("-h", "--help", "help"):
        words = [*words[1:2], "--help"]
    if words[0] not in COMMANDS:
        return _guarded(lambda: _without_command(words[0]))
    return _guarded(lambda: _run(words))


def command(name: str) -> Command:
    """One of them, by its name."""
    found: Command = importlib.import_module("." + name, __package__).COMMAND
    return found


def parser_of(one: Command) -> Parser:
    """What reads its arguments."""
    parser = Parser(prog="tfmemwatch " + one.name, description=one.description or one.help, example=one.example)
    one.add_arguments(parser)
    return parser


def help_text() -> str:
    """What there is, with an example first."""
    rows = ["  %-11s %s" % row for row in COMMANDS.items()]
    return "\n".join([
        "example:", "  tfmemwatch run train.py --epochs 3     run a program, and see at its end which line leaks", "",
        "usage: tfmemwatch COMMAND …", "", "Names the line of a TensorFlow program that leaks memory.", "",
        "commands (`tfmemwatch COMMAND --help` for one):", *rows, "", table().rstrip(),
    ]) + "\n"  # fmt: skip


def _run(words: List[str]) -> int:
    one = command(words[0])
    chosen = parser_of(one).parse_args(words[1:])
    chosen.command = one.name
    return one.run(chosen)


def _without_command(word: str) -> int:
    if word == "--help":
        sys.stdout.write(help_text())
    elif word == "--version":
        sys.stdout.write("tfmemwatch %s\n" % __version__)
    else:
        meant = did_you_mean(word, COMMANDS)
        raise ConfigError("%r is no command%s" % (word, meant or "; `tfmemwatch --help` lists them"))
    return WELL


def _guarded(work: object) -> int:
    """Whatever goes wrong is a sentence and a number."""
    try:
        try:
            return int(work())  # type: ignore[operator]
        finally:
            sys.stdout.flush()
    except ConfigError as error:
        return _said(str(error), USAGE)
    except TfmemwatchError as error:
        return _said(str(error), getattr(error, "code", NO_ANSWER))
    except KeyboardInterrupt:
        return _said("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _no_more_output()
        return NO_READER
    except OSError as error:
        _no_more_output()
        what = error.filename if isinstance(error.filename, str) else "the output"
        return _said("%s can't be written: %s" % (what, error.strerror or error), NOT_WRITTEN)


def _said(text: str, code: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write("tfmemwatch: %s\n" % text)
    return code


def _no_more_output() -> None:
    """Else Python would try once more at its end, and print a traceback."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
