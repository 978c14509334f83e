"""`tfmemwatch run`: any program, unchanged, and at its end what leaks."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Tuple

from ..config import ENVIRONMENT, KINDS, checked, load
from ..errors import ConfigError, Unavailable
from . import printing, running
from .command import Command
from .doors import own_folder
from .exit_codes import LEAK, USAGE
from .report import add_fail_on

_HELP = "Run a program, unchanged, and print at its end what leaks."
_DESCRIPTION = """\
Run a program as `python` would, and print on stderr at its end what leaks. Its exit code, its signals, its output, its
arguments and its children are as without tfmemwatch; nothing is loaded before it imports TensorFlow. The report comes
however the program ends: also when it is killed."""
_EXAMPLE = """\
tfmemwatch run train.py --epochs 3
tfmemwatch run --record run.tfmw --fail-on leak -m package.train"""
_UNSEEN = "the program was not watched: %s"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="script.py …", help="the program, and its arguments"
    )
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="module …", help="run a module")
    parser.add_argument("-c", dest="code", nargs=argparse.REMAINDER, metavar="code …", help="run this code")
    parser.add_argument("--html", metavar="FILE", help="write the report as a page, too")
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON, too")
    parser.add_argument("--output", metavar="FILE", help="write the report's text to this file, and not to stderr")
    add_fail_on(parser)
    settings = parser.add_argument_group("settings, as in install() and TFMEMWATCH_…")
    for name in ENVIRONMENT:
        settings.add_argument(_option(name), dest="set_" + name, metavar="VALUE", help=KINDS[name].allowed)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def run(chosen: argparse.Namespace) -> int:
    """Run it, and tell."""
    words = _words(chosen)
    settings = _settings(chosen)
    for path in filter(None, (chosen.html, chosen.json, chosen.output)):
        if os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise ConfigError("%s can't be written: it is a folder, or its folder is not there" % path)
    folder = tempfile.mkdtemp(prefix="tfmemwatch-")
    try:
        settings.setdefault("record", os.environ.get("TFMEMWATCH_RECORD") or os.path.join(folder, "run.tfmw"))
        settings["record"] = os.path.abspath(settings["record"])
        began = time.time()
        status = running.run(_python() + words, _environ(folder, settings))
        leaks = _tell(chosen, folder, settings["record"], began, status)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    is_leak = bool(chosen.fail_on) and leaks and os.WIFEXITED(status) and not os.WEXITSTATUS(status)
    return LEAK if is_leak else running.end_as(status)


def _words(chosen: argparse.Namespace) -> List[str]:
    """What Python is called with."""
    for option, words in (("-m", chosen.module), ("-c", chosen.code)):
        if words is not None:
            if not words or chosen.program:
                raise ConfigError("name the %s behind %s" % ("module" if option == "-m" else "code", option))
            return [option, *words]
    if not chosen.program:
        raise ConfigError("name the program: `tfmemwatch run script.py …`, or `tfmemwatch run -m module …`")
    script = chosen.program[0]
    if script != "-" and not os.path.exists(script):
        raise ConfigError("there is no script %s" % script)
    return list(chosen.program)


def _settings(chosen: argparse.Namespace) -> Dict[str, Any]:
    """Those of the options; a wrong one of the environment is said here, too, before anything runs."""
    settings: Dict[str, Any] = {}
    for name in ENVIRONMENT:
        raw = getattr(chosen, "set_" + name)
        if raw is None:
            continue
        try:
            value = KINDS[name].parse(raw)
        except (ValueError, KeyError):
            raise ConfigError("%s is %r; it must be %s" % (_option(name), raw, KINDS[name].allowed)) from None
        settings[name] = checked(name, value, _option(name))
    load(settings, names=_probes() if settings.keys() & {"probes", "without"} else ())
    if not settings.get("door") and not os.environ.get("TFMEMWATCH_DOOR"):
        settings["door"] = own_folder()
    return settings


def _probes() -> Tuple[str, ...]:
    from ..probes import BY_NAME  # they import much

    return tuple(BY_NAME)


def _python() -> List[str]:
    """This Python, called as this one was; its options -E, -I and -S would hide what begins the watch."""
    words: Optional[List[str]] = getattr(sys, "orig_argv", None)
    if words is None:  # before Python 3.10
        words = ["", *getattr(subprocess, "_args_from_interpreter_flags")()]  # noqa: B009 - as multiprocessing does
    flags: List[str] = []
    for word in words[1:]:
        is_value = flags[-1:] in (["-X"], ["-W"])
        if not is_value and (not word.startswith("-") or word[:2] in ("-m", "-c")):
            break
        flags.append(word)
    return [sys.executable, *(flag for flag in flags if flag not in ("-E", "-I", "-S"))]


def _environ(folder: str, settings: Dict[str, Any]) -> Dict[str, str]:
    """What `startup/sitecustomize.py` takes back before the program begins."""
    before = os.environ.get("PYTHONPATH")
    told = {
        "pythonpath": before, "package": os.path.dirname(_PACKAGE), "folder": folder,
        "is_quiet": "log" not in settings and "verbose" not in settings,
        "settings": {name: getattr(value, "whole", value) for name, value in settings.items()},
    }  # fmt: skip
    path = os.pathsep.join([os.path.join(_PACKAGE, "cli", "startup"), *filter(None, [before])])
    return dict(os.environ, PYTHONPATH=path, TFMEMWATCH_RUN=json.dumps(told))


def _tell(chosen: argparse.Namespace, folder: str, record: str, began: float, status: int) -> bool:
    """The report, in all forms that were asked for; whether something leaks."""
    from .formats import HTML, JSON, TEXT  # not needed while the program starts

    shown = _shown(folder, record, began)
    if shown is None:
        failed = _noted(folder, "failed")
        if failed is not None:
            _say(_UNSEEN % "tfmemwatch itself failed\n" + failed)
        elif status != USAGE << 8:
            _say(_UNSEEN % "it did not import TensorFlow")
        return False
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name if number in set(signal.Signals) else "signal %d" % number
        told = "" if shown.recording.last.ended else "; this is what was known until then"
        _say("the program was ended by %s%s" % (name, told))
    for form, output in ((HTML, chosen.html), (JSON, chosen.json), (TEXT, chosen.output or "")):
        if output is not None:
            _give(shown.as_(form), output)
    return bool(shown.leaks)


def _shown(folder: str, record: str, began: float) -> Any:
    """What was recorded of the program; of its children, where it has not imported TensorFlow itself."""
    from ..outputs.recording import load as load_recording
    from ..outputs.recording import others
    from .formats import Shown

    path = _noted(folder, "recording")
    children = others(path or record, began, time.time())
    try:
        if path is not None:
            return Shown(recording=load_recording(path), children=children)
    except Unavailable as why:
        _say(str(why))
    return Shown(recording=children[0], children=children[1:]) if children else None


def _give(text: str, output: Optional[str]) -> None:
    """Where one can't be written, the others are, and the program's exit code stays its own."""
    try:
        printing.give(text, output or None, sys.stderr)
    except (OSError, ValueError) as error:
        _say("%s can't be written: %s" % (output or "the report", getattr(error, "strerror", None) or error))


def _noted(folder: str, what: str) -> Optional[str]:
    try:
        with open(os.path.join(folder, what), encoding="utf-8") as file:
            return str(json.load(file))
    except (OSError, ValueError):
        return None


def _say(text: str) -> None:
    try:
        sys.stderr.write("tfmemwatch: %s\n" % text.rstrip())
        sys.stderr.flush()
    except (OSError, ValueError):
        return


COMMAND = Command("run", _HELP, _add_arguments, run, _DESCRIPTION, _EXAMPLE)
