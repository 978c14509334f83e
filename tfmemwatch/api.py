"""What the program calls. The one watch of the process lives here."""

from __future__ import annotations

import sys
import threading
from typing import Any, List, Optional

from . import __version__, account, guard, holdings, remedy, site, tfapi
from .account import Account
from .block import Block
from .config import Config, load
from .expectations import Expectation
from .export import Export
from .memory import Process
from .model import Finding, Site
from .moment import Snapshot
from .monitor import Watch
from .probes import BY_NAME
from .remedy import Trial

_lock = threading.RLock()
_current: List[Watch] = []  # none or one
_exports: List[Export] = []  # the running watch's
_installed_at: List[Site] = []


def install(**settings: Any) -> Watch:
    """Watch this process from now on; a second call changes nothing and returns the running watch."""
    config = load(settings, names=tuple(BY_NAME))
    with _lock:
        if _current:
            _say_if_different(config)
            return _current[0]
        watch = Watch(config)
        export = Export(watch, __version__)  # what can't be exported as is wished is said before anything is installed
        _current.append(watch)
        _exports.append(export)
        _installed_at[:] = [site.here(sys._getframe(1))]
        try:
            watch.start()
            export.start()
        except BaseException:
            uninstall()
            raise
        return watch


def _say_if_different(config: Config) -> None:
    running = _current[0].config
    if config == running:
        return
    names = [name for name in Config._fields if getattr(config, name) != getattr(running, name)]
    guard.logger.warning(
        "tfmemwatch is already installed, at %s; %s of this second install() is ignored",
        _installed_at[0].short, ", ".join("%s=%r" % (name, getattr(config, name)) for name in names),
    )  # fmt: skip


def uninstall() -> None:
    """Put everything back as it was before `install()`."""
    with _lock:
        running, exports = _current[:], _exports[:]
        del _current[:], _installed_at[:], _exports[:]
    for export in exports:
        export.stop()
    for watch in running:
        watch.stop()


def current() -> Optional[Watch]:
    """The running watch, if there is one."""
    return _current[0] if _current else None


def port() -> Optional[int]:
    """The port on which the metrics are served; None where there is none."""
    return _exports[0].port if _exports else None


def watch(name: str = "block", owners: bool = False, **settings: Any) -> Block:
    """A block under watch: a context manager, or a decorator; with or without `install()`.

    With `owners` its report tells all owners of memory apart, for some tenths of a second at either end.
    """
    config = load(settings, names=tuple(BY_NAME))

    def of_the_process() -> Watch:
        running = current()
        return Watch(config) if running is None else running

    return Block(name, of_the_process, owners)


def findings() -> List[Finding]:
    """What leaks now, the surest first; nothing where nothing is installed."""
    running = current()
    return running.findings() if running is not None else []


def snapshot(owners: bool = False) -> Snapshot:
    """Everything that is counted, at this moment; `owners` adds whose bytes these are, in some tenths of a second."""
    return _needed().snapshot(owners)


def owners() -> Account:
    """Whose bytes resident memory is made of, now; takes some tenths of a second, with or without `install()`."""
    running = current()
    if running is not None:
        return running.account()
    process = Process()
    try:
        return account.take(process, holdings.read, tfapi.device_memory)
    finally:
        process.close()


def remedies(*names: str, function: Any = None) -> Trial:
    """Try what may give memory back, and say what it gave: `gc.collect()`, then those named, then a trim of malloc.

    `clear_session`, `kernels`, `scalars` and `traces` (of `function`, a tf.function or its name) run only when they are
    named: each takes something from the program that it then makes anew.
    """
    running = current()
    return remedy.trial(names, function, running.process if running is not None else None)


def expect_dead(thing: Any, what: str = "") -> Expectation:
    """Say that a thing should be gone by now: it is told when it dies, or who holds it; nothing of it is kept."""
    return _needed().expectations.add(thing, what or type(thing).__name__, site.here(sys._getframe(1)))


def report() -> str:
    """What is known, as a text for a person."""
    return _needed().report()


def set_level(level: str) -> None:
    """Look more or less closely from now on: off, counts, sites or stacks."""
    _needed().set_level(level)


def _needed() -> Watch:
    running = current()
    if running is None:
        raise RuntimeError("nothing is watched: call tfmemwatch.install() first, or use tfmemwatch.watch()")
    return running
