"""`tfmemwatch demo`: a leak is named, on this machine, within a minute."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys

from ..errors import ConfigError, Unavailable
from . import main
from .command import Command, no_arguments
from .exit_codes import NOT_WELL

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo_server.py")
_FIRST = """\
A small server, as many are written, is run for a quarter of a minute:

    tfmemwatch run %s

It has no line of tfmemwatch in it. One of its lines leaks.

"""
_NEXT = """
What next:

    tfmemwatch run train.py …              the same for a program of yours, unchanged
    tfmemwatch live                        from another terminal, while it runs
    tfmemwatch run --record run.tfmw …     what was seen stays: `tfmemwatch report run.tfmw`, `tfmemwatch compare`
    import tfmemwatch; tfmemwatch.install()    left on in production: two lines
"""


def run(chosen: argparse.Namespace) -> int:
    """Run the program under watch."""
    if importlib.util.find_spec("tensorflow") is None:
        raise _NoTensorFlow("the demo needs TensorFlow, which is not installed here: pip install tensorflow-cpu")
    if not os.path.isfile(_PROGRAM):
        raise ConfigError("%s is not there" % _PROGRAM)
    sys.stdout.write(_FIRST % _PROGRAM)
    sys.stdout.flush()
    code = main.main(["run", "--sample-seconds", "0.1", _PROGRAM])
    sys.stdout.write(_NEXT)
    return code


class _NoTensorFlow(Unavailable):
    code = NOT_WELL


_HELP = "Run a small program with a leak, and see it named."
COMMAND = Command("demo", _HELP, no_arguments, run, example="tfmemwatch demo")
