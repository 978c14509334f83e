"""How a command asks another process: by its control socket."""

from __future__ import annotations

import argparse
import os
from typing import Any, Dict

from ..errors import ConfigError, Unavailable
from ..monitor import control_socket

NOTE = " The process must run tfmemwatch with door=FOLDER (TFMEMWATCH_DOOR); it answers at its next look."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which process, and how long to wait for it."""
    parser.add_argument("--pid", type=int, help="the process; not needed where there is only one")
    parser.add_argument(
        "--door", default=os.environ.get("TFMEMWATCH_DOOR", ""), help="the folder of its control socket"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to wait for its next look")


def ask(chosen: argparse.Namespace) -> int:
    """Put the question to the process that is meant, and print what it says."""
    if not chosen.door:
        raise ConfigError("name the folder of the control socket: --door, or TFMEMWATCH_DOOR as in the process itself")
    question = {"what": chosen.command, "names": getattr(chosen, "names", []),
                "function": getattr(chosen, "function", None)}  # fmt: skip
    told = _told(chosen, question)
    if "error" in told:
        raise Unavailable(told["error"])
    print(told["answer"], end="")
    return 0


def _told(chosen: argparse.Namespace, question: Dict[str, Any]) -> Dict[str, str]:
    try:
        return control_socket.ask(chosen.door, _pid(chosen), question, chosen.seconds)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        raise Unavailable("the process does not answer: %s" % (error or type(error).__name__)) from None


def _pid(chosen: argparse.Namespace) -> int:
    found = control_socket.processes_in(chosen.door)
    if chosen.pid is not None:
        return int(chosen.pid)
    if len(found) != 1:
        raise ConfigError("name the process with --pid; in %s there are %s" % (chosen.door, found or "none"))
    return found[0]
