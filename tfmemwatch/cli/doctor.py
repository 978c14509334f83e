"""`tfmemwatch doctor`: what can be watched in this environment, and what can't and why."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Dict, Iterator, Optional, Tuple

from .. import __version__
from ..config import ENVIRONMENT, Config, doubts, load
from ..memory import mappings
from ..memory.limits_ahead import LimitsAhead
from ..memory.process import Memory, Process, python_heap
from ..monitor.watch import Watch
from ..probes import PROBES
from ..seams import runtime
from ..seams.keras import kerases
from ..units import size_of
from . import printing
from .command import Command
from .exit_codes import NOT_WELL, WELL


def run(chosen: argparse.Namespace) -> int:
    """Say what can be watched in this environment, and what can't and why."""
    config = load({}, names=tuple(probe.name for probe in PROBES))
    missing = _import_tensorflow()
    if missing:
        if chosen.json:
            printing.print_json({"tensorflow": None, "why": missing})
        else:
            print("TensorFlow can't be imported: %s\nNothing would be watched." % missing)
        return NOT_WELL
    watch = Watch(config)
    watch.start(sampling=False)
    memory = watch.process.read()
    try:
        if chosen.json:
            printing.print_json(told(watch, config))
            return WELL
        _print_versions()
        _print_probes(watch.off)
        _print_memory(memory._asdict(), watch.process)
        _print_limits(watch.state.ahead)
        _print_settings(config._asdict())
        _print_doubts(config)
    finally:
        watch.stop()
    return WELL


def told(watch: Watch, config: Config) -> Dict[str, Any]:
    """The same for programs."""
    ahead = _looked(watch.state.ahead)
    return {
        "versions": _versions(), "keras": [keras.name for keras in kerases()],
        "probes": {probe.name: watch.off.get(probe.name, "") or "up" for probe in PROBES},
        "allocator": watch.process.allocator.name, "memory": watch.process.read(),
        "readings": dict(readings(watch.process)), "limits": ahead.limits, "limits_off": ahead.off,
        "settings": {name: getattr(config, name) for name in ENVIRONMENT}, "doubts": list(doubts(config, os.environ)),
    }  # fmt: skip


def _import_tensorflow() -> str:
    try:
        import tensorflow
    except Exception as error:
        return str(error) or type(error).__name__
    getattr(tensorflow, "keras", None)  # TensorFlow loads it when it is first asked for
    return ""


def _versions() -> Dict[str, str]:
    return dict(runtime.versions(), tfmemwatch=__version__, Python=sys.version.split()[0])


def _print_versions() -> None:
    print("  ".join("%s %s" % row for row in sorted(_versions().items(), key=lambda row: row[0].lower())))
    print("Keras in this process: %s" % (", ".join(keras.name for keras in kerases()) or "none yet"))


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
    yield "Python's arenas", "up" if python_heap() is not None else "off: this Python does not report them"
    try:
        yield "mappings", "up: %d" % len(mappings.read(process.proc))
    except OSError as error:
        yield "mappings", "off: %s" % error
    devices = ", ".join(runtime.device_memory())
    yield "devices", devices or "none with an allocator of its own so far"


def _print_limits(ahead: LimitsAhead) -> None:
    print("\nLimits")
    for limit in _looked(ahead).limits:
        print("  %-28s %10s, %s left" % (limit.name, size_of(limit.bytes), size_of(limit.left_bytes)))
    for why in ahead.off:
        print("  off: %s" % why)


def _looked(ahead: LimitsAhead) -> LimitsAhead:
    ahead.look(0.0, Memory(None, None, None, 0), 0)
    return ahead


def _print_settings(settings: Dict[str, object]) -> None:
    print("\nSettings (argument of install(), or TFMEMWATCH_… variable)")
    for name in ENVIRONMENT:
        value = settings[name]
        print("  %-15s %s" % (name, value if value not in ((), "") else "all" if name == "probes" else "none"))


def _print_doubts(config: Config) -> None:
    for doubt in doubts(config, os.environ):
        print("  %s" % doubt)


COMMAND = Command("doctor", run.__doc__ or "", printing.add_json, run, example="tfmemwatch doctor")
