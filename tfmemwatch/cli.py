"""`python -m tfmemwatch doctor`: what is watched here, what is not, and why. `dashboard` and `rules` print files."""

from __future__ import annotations

import argparse
import sys
from typing import Dict, List, Optional

from . import __version__, tfapi
from .config import ENVIRONMENT, load
from .errors import TfmemwatchError
from .model import size_of
from .monitor import Watch
from .probes import PROBES


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; 0 where all is well."""
    parser = argparse.ArgumentParser(prog="python -m tfmemwatch", description="Names the line that leaks.")
    parser.add_argument("--version", action="version", version="tfmemwatch " + __version__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("doctor", help=doctor.__doc__)
    for command, help in _PRINTED.items():
        printed = commands.add_parser(command, help=help)
        printed.add_argument("--output", metavar="FILE", help="write it there")
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 2
    try:
        return doctor() if chosen.command == "doctor" else _print(chosen.command, chosen.output)
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
        _print_memory(memory._asdict(), watch.process.off)
        _print_settings(config._asdict())
    finally:
        watch.stop()
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


def _print_memory(memory: Dict[str, Optional[int]], off: str) -> None:
    print("\nMemory")
    for name in ("resident_bytes", "in_use_bytes", "kept_bytes"):
        value = memory[name]
        print("  %-15s %s" % (name[:-6].replace("_", " "), "not known" if value is None else size_of(value)))
    if off:
        print("  " + off)


def _print_settings(settings: Dict[str, object]) -> None:
    print("\nSettings (argument of install(), or TFMEMWATCH_… variable)")
    for name in ENVIRONMENT:
        value = settings[name]
        print("  %-15s %s" % (name, value if value != () else "all" if name == "probes" else "none"))
