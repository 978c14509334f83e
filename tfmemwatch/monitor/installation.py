"""The watch of the process: put up and put back as a whole."""

from __future__ import annotations

import contextlib
import os
import time
from typing import List, Optional

from ..config import Config, doubts
from ..errors import Unavailable
from ..model import Site
from ..safety import forks, guard
from ..seams import runtime
from .decorated import abandon_all
from .exports import Export
from .installed import LEFT_OUT
from .recycling import Recycling, Wish
from .sampler import is_here
from .watch import Watch, begun

SECONDS = 5.0  # for all that install() or uninstall() waits for


class Installation:
    """One watch of the process, with its ways out; written down before anything is done."""

    def __init__(self, at: Site, version: str) -> None:
        self.at = at
        self.version = version  # of tfmemwatch
        self.watch: Optional[Watch] = None
        self.export: Optional[Export] = None
        self.recycling: Optional[Recycling] = None
        self.is_complete = False
        self._is_told = False

    def do(self, config: Config) -> None:
        """Watch from now on. An export that can't be set up is an error before anything is installed."""
        self.watch = Watch(config)
        self.watch.state.probes.when_up = self.tell
        self.export = Export.__new__(Export)  # known before it has a socket or stands in a registry
        Export.__init__(self.export, self.watch, self.version)
        self.watch.start()
        self.export.start()
        self.is_complete = True

    def tell(self) -> None:
        """One line, when it is complete and TensorFlow is there: what is watched."""
        if self._is_told or not self.is_complete or self.watch is None or not self.watch.state.probes.is_installed:
            return
        self._is_told = True
        count = len(self.watch.probes)
        off = sorted(name for name, why in self.watch.off.items() if why != LEFT_OUT)
        guard.logger.info(
            "tfmemwatch %s: watching TensorFlow %s, %d probe%s%s",
            self.version, runtime.versions().get("tensorflow", "of an unknown version"), count, "s"[: count != 1],
            "; not watched: " + ", ".join(off) if off else "",
        )  # fmt: skip

    def recycle(self, wish: Wish) -> None:
        """End the process before its memory does; as it was asked for last."""
        watch = self.watch
        if watch is None:
            return
        self._no_recycling()
        process = watch.process
        self.recycling = Recycling(wish, lambda: process.read_resident().own_bytes, watch.findings)
        watch.on_wake.append(self.recycling.look)

    def _no_recycling(self) -> None:
        if self.watch is not None:
            del self.watch.on_wake[:]
        if self.recycling is not None:
            self.recycling.leave()

    def undo(self, until: float) -> None:
        """Put everything back, and forget it; again, where this was interrupted."""
        self.is_complete = False
        self._no_recycling()
        if self.export is not None:
            with contextlib.suppress(AttributeError):  # its constructor was interrupted before it did anything
                self.export.stop()
            forks.no_longer(self.export._in_child)
        if self.watch is not None:
            self.watch.state.probes.when_up = None
            self.watch.stop(max(0.0, until - time.monotonic()))
        installations[:] = [one for one in installations if one is not self]


class _Process:
    """Hears of forks."""

    def in_child(self) -> None:
        """What another thread was at in the parent, for so long that the fork did not wait for it, is put back."""
        del _wishes[:]
        if not forks.is_changing_here():
            for one in list(installations):
                if not one.is_complete:
                    one.undo(0.0)


installations: List[Installation] = []  # one, and those that an interrupt has left
_wishes: List[bool] = []  # of uninstall(), while this thread or another one is at it
process = _Process()
guard.logger.is_verbose = lambda: any(watch.config.verbose for watch in list(begun))


def install(config: Config, at: Site, version: str) -> Watch:
    """Watch this process from now on, or go on with the watch that runs."""
    running: List[Installation] = []
    if not forks.changing(lambda: running.append(_put_up(config, at, version)), SECONDS):
        running = installations[:1]  # a signal handler within install(), or another thread is at it for long
    watch = running[0].watch if running else None
    if watch is None:
        raise Unavailable("another install() or uninstall() has been running for %g s; call again" % SECONDS)
    if running[0].at is at:
        for doubt in doubts(config, os.environ):
            guard.logger.warning("%s", doubt)
        running[0].tell()
    else:
        _say_if_different(running[0], config)
    if _wishes and not forks.is_changing_here():
        uninstall()
    return watch


def _put_up(config: Config, at: Site, version: str) -> Installation:
    for one in installations:
        if one.is_complete:
            return one
    _put_back(time.monotonic() + SECONDS)
    forks.in_child(process.in_child)
    one = Installation(at, version)
    installations.append(one)
    try:
        one.do(config)
    except BaseException:
        one.undo(time.monotonic() + SECONDS)
        raise
    return one


def _say_if_different(running: Installation, config: Config) -> None:
    if running.watch is None or config == running.watch.config:
        return
    now = running.watch.config
    names = [name for name in Config._fields if getattr(config, name) != getattr(now, name)]
    guard.logger.warning(
        "tfmemwatch is already installed, at %s; %s of this second install() is ignored",
        running.at.short, ", ".join("%s=%r" % (name, getattr(config, name)) for name in names),
    )  # fmt: skip


def recycle(wish: Wish) -> bool:
    """End the process before its memory does; False where nothing is installed."""
    done: List[Installation] = []

    def change() -> None:
        for one in [one for one in installations if one.is_complete]:
            one.recycle(wish)
            done.append(one)

    forks.changing(change, SECONDS)
    return bool(done)


def uninstall() -> None:
    """Put everything back as it was before `install()`.

    The call waits some seconds for a callback that is stuck; its thread then ends by itself, and reports nothing more.
    """
    until = time.monotonic() + SECONDS
    if not forks.changing(lambda: _put_all_back(until), 0 if is_here() else SECONDS):
        _wishes.append(True)  # who is at it does it in the end


def _put_all_back(until: float) -> None:
    abandon_all()
    _put_back(until)


def _put_back(until: float) -> None:
    del _wishes[:]
    for one in list(installations):
        one.undo(until)
    put_back_forsaken(until)


def put_back_forsaken(until: float = 0.0) -> None:
    """What a block has left that an exception ended where nobody can catch it."""
    for watch in list(begun):
        if watch.is_forsaken:
            watch.stop(max(0.0, until - time.monotonic()))
