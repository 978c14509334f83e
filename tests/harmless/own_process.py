"""Programs that run in a process of their own, on the tree that the tests run on."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import tfmemwatch

TREE = str(Path(tfmemwatch.__file__).resolve().parent.parent)


def run(program, *arguments, seconds=60, **environment):
    """Run Python source to its end: a completed process with its text; a hang is an error."""
    path = os.pathsep.join(filter(None, (TREE, os.environ.get("PYTHONPATH"))))
    env = dict(os.environ, PYTHONPATH=path, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", **environment)
    command = [sys.executable, "-X", "faulthandler", "-c", inspect.cleandoc(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=seconds)


def said(program, *arguments, **options):
    """What a program prints, line by line; it must end well."""
    done = run(program, *arguments, **options)
    assert done.returncode == 0, (done.returncode, done.stdout[-1000:], done.stderr[-3000:])
    return done.stdout.split("\n")[:-1]
