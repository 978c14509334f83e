"""`tfmemwatch demo`: a leak is named, on this machine, within a minute."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import tempfile

from ..errors import ConfigError, Unavailable
from ..outputs.folder import is_writable
from . import main
from .command import Command, no_arguments
from .exit_codes import NOT_WELL

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo_server.py")
_PAGE = "tfmemwatch-demo.html"
_FIRST = """\
A small server, as many are written, is run for a quarter of a minute:

    tfmemwatch run %s

It has no line of tfmemwatch in it. One of its lines leaks.

"""
_NEXT = """
The server's source is %s; the line that was named ends in «# <- here».
%s
What next:

    tfmemwatch run train.py …              the same for a program of yours, unchanged
    tfmemwatch live                        from another terminal, while it runs
    tfmemwatch run --record run.tfmw …     what was seen stays: `tfmemwatch report run.tfmw`, `tfmemwatch compare`
    import tfmemwatch; tfmemwatch.install()    left on, in production: two lines of yours
"""


def run(chosen: argparse.Namespace) -> int:
    """Run the program under watch."""
    if importlib.util.find_spec("tensorflow") is None:
        raise _NoTensorFlow("the demo needs TensorFlow, which is not installed here: pip install tensorflow-cpu")
    if not os.path.isfile(_PROGRAM):
        raise ConfigError("%s is not there" % _PROGRAM)
    folder = tempfile.mkdtemp(prefix="tfmemwatch-demo-")
    try:
        program = os.path.join(folder, "leaky_server.py")  # lines of this package are nobody's
        shutil.copyfile(_PROGRAM, program)
        sys.stdout.write(_FIRST % program)
        sys.stdout.flush()
        page = ["--html", _PAGE] if is_writable(os.getcwd()) else []
        code = main.main(["run", "--sample-seconds", "0.1", *page, program])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    told = "The same as a page for any browser: %s\n" % os.path.abspath(_PAGE) if page else ""
    sys.stdout.write(_NEXT % (_PROGRAM, told))
    return code


class _NoTensorFlow(Unavailable):
    code = NOT_WELL


_HELP = "Run a small program with a leak, and see it named."
COMMAND = Command("demo", _HELP, no_arguments, run, example="tfmemwatch demo")
