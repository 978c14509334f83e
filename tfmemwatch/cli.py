"""`python -m tfmemwatch`: what is watched here (`doctor`), what another process is asked, files that are printed."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Dict, Iterator, List, Optional, Tuple

from . import __version__, door, mappings, tfapi
from .config import ENVIRONMENT, load
from .errors import ConfigError, TfmemwatchError, Unavailable
from .forecast import limit_of
from .horizon import Horizon
from .memory import Memory, Process, python_heap
from .model import size_of
from .monitor import Watch
from .probes import PROBES
from .remedy import NAMES


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; 0 where all is well."""
    parser = argparse.ArgumentParser(prog="python -m tfmemwatch", description="Names the line that leaks.")
    parser.add_argument("--version", action="version", version="tfmemwatch " + __version__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("doctor", help=doctor.__doc__)
    for name, text in _PRINTED.items():
        printed = commands.add_parser(name, help=text)
        printed.add_argument("--output", metavar="FILE", help="write it there")
    for name, text in (
        ("owners", "Whose bytes a process is made of."),
        ("remedies", "Try in a process what may give memory back: a collection, those named, a trim."),
        ("report", "The report of a process."),
    ):
        command = commands.add_parser(name, help=text, description=text + _AT_THE_DOOR)
        command.add_argument("--pid", type=int, help="the process; left out where there is only one")
        command.add_argument("--door", default=os.environ.get("TFMEMWATCH_DOOR", ""), help="its folder for the socket")
        command.add_argument("--seconds", type=float, default=60.0, help="how long to wait for its next look")
        if name == "remedies":
            command.add_argument("names", nargs="*", metavar="name", help="of: " + ", ".join(NAMES))
            command.add_argument("--function", help="the tf.function whose traces are to be forgotten")
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 2
    try:
        if chosen.command in _PRINTED:
            return _print(chosen.command, chosen.output)
        return doctor() if chosen.command == "doctor" else ask(chosen)
    except TfmemwatchError as error:
        print("tfmemwatch: %s" % error, file=sys.stderr)
        return 2


_PRINTED = {
    "dashboard": "Print a Grafana dashboard of the metrics.",
    "rules": "Print recording and alerting rules for Prometheus.",
}


def _print(command: str, output: Optional[str]) -> int:
    """A file that is made from the catalogue."""
    from .outputs import dashboard, rules

    text = {"dashboard": dashboard.dashboard, "rules": rules.rules}[command]()
    if output is None:
        print(text, end="")
        return 0
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print("tfmemwatch: --output is %r, and can't be written: %s" % (output, error.strerror), file=sys.stderr)
        return 2
    return 0


def doctor() -> int:
    """Say what can be watched in this environment, and what can't and why."""
    config = load({}, names=tuple(probe.name for probe in PROBES))
    missing = _import_tensorflow()
    if missing:
        print("TensorFlow can't be imported: %s\nNothing would be watched." % missing)
        return 1
    watch = Watch(config)
    watch.start(sampling=False)
    memory = watch.memory()
    try:
        _print_versions()
        _print_probes(watch.off)
        _print_memory(memory._asdict(), watch.process)
        _print_limits(watch.horizon)
        _print_settings(config._asdict())
    finally:
        watch.stop()
    return 0


_AT_THE_DOOR = " The process must have been installed with door=FOLDER (TFMEMWATCH_DOOR); it answers at its next look."


def ask(chosen: argparse.Namespace) -> int:
    """Put the question to the process that is meant, and print what it says."""
    if not chosen.door:
        raise ConfigError("name the folder of the door: --door, or TFMEMWATCH_DOOR as in the process itself")
    question = {"what": chosen.command, "names": getattr(chosen, "names", []),
                "function": getattr(chosen, "function", None)}  # fmt: skip
    try:
        found = door.open_doors(chosen.door)
        if chosen.pid is None and len(found) != 1:
            raise ConfigError("name the process with --pid; in %s there are %s" % (chosen.door, found or "none"))
        pid = found[0] if chosen.pid is None else chosen.pid
        told = door.ask(chosen.door, pid, question, chosen.seconds)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        raise Unavailable("it does not answer: %s" % (error or type(error).__name__)) from None
    if "error" in told:
        raise Unavailable(told["error"])
    print(told["answer"], end="")
    return 0


def _import_tensorflow() -> str:
    try:
        import tensorflow
    except Exception as error:
        return str(error) or type(error).__name__
    getattr(tensorflow, "keras", None)  # TensorFlow loads it when it is first asked for
    return ""


def _print_versions() -> None:
    found = dict(tfapi.versions(), tfmemwatch=__version__, Python=sys.version.split()[0])
    print("  ".join("%s %s" % row for row in sorted(found.items(), key=lambda row: row[0].lower())))
    print("Keras in this process: %s" % (", ".join(keras.name for keras in tfapi.kerases()) or "none yet"))


def _print_probes(off: Dict[str, str]) -> None:
    print("\nProbes")
    for probe in PROBES:
        why = off.get(probe.name)
        print("  %-10s %s  %s" % (probe.name, "off" if why else "up ", why or probe.watches))


def _print_memory(memory: Dict[str, Optional[int]], process: Process) -> None:
    print("\nMemory")
    print("  %-15s %s" % ("allocator", process.allocator.name))
    for name in ("resident_bytes", "in_use_bytes", "kept_bytes"):
        value = memory[name]
        print("  %-15s %s" % (name[:-6].replace("_", " "), "not known" if value is None else size_of(value)))
    for what, why in readings(process):
        print("  %-15s %s" % (what, why))


def readings(process: Process) -> Iterator[Tuple[str, str]]:
    """What is read only on request, and whether it can be."""
    if process.off:
        yield "off", process.off
    yield "Python's arenas", "up" if python_heap() is not None else "off: this Python does not tell them"
    try:
        yield "mappings", "up: %d" % len(mappings.read(process.proc))
    except OSError as error:
        yield "mappings", "off: %s" % error
    devices = ", ".join(tfapi.device_memory())
    yield "devices", devices or "none that has an allocator of its own, so far"


def _print_limits(horizon: Horizon) -> None:
    print("\nLimits")
    horizon.look(0.0, Memory(None, None, None, 0), 0)
    for limit in horizon.limits:
        print("  %-28s %10s, %s left" % (limit.name, limit_of(limit.bytes), size_of(limit.left_bytes)))
    for why in horizon.off:
        print("  off: %s" % why)


def _print_settings(settings: Dict[str, object]) -> None:
    print("\nSettings (argument of install(), or TFMEMWATCH_… variable)")
    for name in ENVIRONMENT:
        value = settings[name]
        print("  %-15s %s" % (name, value if value != () else "all" if name == "probes" else "none"))
