"""How a command asks another process: by its control socket."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, Dict, List, Optional

from ..errors import ConfigError, Unavailable
from ..monitor import control_socket
from ..outputs.report_from import report_from, value_from
from ..reports import Report
from .doors import folder_of

NOTE = (
    " The process must run under `tfmemwatch run`, or tfmemwatch with door=FOLDER (TFMEMWATCH_DOOR);"
    " it answers at its next look."
)


def add_arguments(parser: argparse.ArgumentParser, with_pid: bool = True) -> None:
    """Which process, and how long to wait for it."""
    if with_pid:
        parser.add_argument("--pid", type=int, help="the process; not needed where there is only one")
    parser.add_argument(
        "--door",
        metavar="FOLDER",
        default="",
        help="the folder of its control socket; else TFMEMWATCH_DOOR, or run's own",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to wait for its next look")


def ask(what: str, door: str, pid: Optional[int], seconds: float, **question: Any) -> Any:
    """Put a question to the process that is meant: a dict; the text of one whose tfmemwatch is older."""
    folder = folder_of(door, pid)
    told = _told(folder, one_of(folder, pid), dict(question, what=what, format="json"), seconds)
    if "error" in told:
        raise Unavailable(told["error"])
    try:
        answer = json.loads(told["answer"])
    except (ValueError, RecursionError):
        return told["answer"]
    return answer if isinstance(answer, dict) else told["answer"]


def value_of(kind: Any, told: Any) -> Any:
    """What it says, as a value of this kind; Unavailable where it says something else."""
    if isinstance(told, str):
        raise Unavailable("the process answers in another form: its tfmemwatch is another version")
    try:
        return report_from(told) if kind is Report else value_from(kind, told)
    except ValueError as error:
        raise Unavailable("the process answers what can't be understood: %s" % error) from None


def _told(folder: str, pid: int, question: Dict[str, Any], seconds: float) -> Dict[str, str]:
    try:
        return control_socket.ask(folder, pid, question, seconds)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        raise Unavailable("process %d does not answer%s" % (pid, _why(folder, pid, error))) from None


def _why(folder: str, pid: int, error: Exception) -> str:
    if not os.path.isdir("/proc/%d" % pid) and os.path.isdir("/proc/self"):
        return ": there is no such process"
    if isinstance(error, FileNotFoundError):
        return ": it has no control socket in %s; start it with `tfmemwatch run`, or with TFMEMWATCH_DOOR" % folder
    return ": %s" % (error or type(error).__name__)


def one_of(folder: str, pid: Optional[int]) -> int:
    """The process that is meant: the one that was named, or the only one there is."""
    if pid is not None:
        return pid
    if not folder:
        raise ConfigError("name the folder of the control socket: --door, or TFMEMWATCH_DOOR as in the process itself")
    found = processes_in(folder)
    if not found:
        raise ConfigError(
            "no process has a control socket in %s: start one with `tfmemwatch run`, or with TFMEMWATCH_DOOR" % folder
        )
    if len(found) > 1:
        raise ConfigError("name the process with --pid; in %s there are %s" % (folder, ", ".join(map(str, found))))
    return found[0]


def processes_in(folder: str) -> List[int]:
    """Those that have a control socket there."""
    try:
        return control_socket.processes_in(folder)
    except OSError as error:
        raise ConfigError("%s can't be looked into: %s" % (folder, error.strerror)) from None
