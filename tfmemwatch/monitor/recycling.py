"""A worker that is nearly out of memory ends by itself: it finishes its requests, and its server starts another one."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import Any, Callable, List, NamedTuple, Optional

from ..errors import ConfigError
from ..memory.limits import Limit, Limits
from ..model import Finding
from ..safety import forks, guard
from ..safety.sibling_lock import IS_POSSIBLE, SiblingLock
from ..units import since_of, size_of
from .supervisor import Place, place

_PAUSE_SECONDS = 1.0  # between two readings of the limits: a dozen files
_READINGS = 3  # in a row: one that is high is a swing
_LEAST_GAINED = 0.01  # of a limit: what a new worker would not give back is no reason to begin with one
_SAID_SECONDS = 2.0  # before the end: the others look each second, and know then that one has gone
_APART_SECONDS = 10.0  # from the end of one worker to that of the next: a new one has to start


class Wish(NamedTuple):
    """What `recycle()` was asked for."""

    at: float
    on_full: Optional[Callable[[str], Any]]
    supervised: bool
    startup_seconds: float


class Full(NamedTuple):
    """A limit of which too much is used, and what this process has to do with it."""

    limit: Limit
    gained_bytes: int

    @property
    def share(self) -> float:
        """That is used."""
        return self.limit.used_bytes / self.limit.bytes


class Recycling:
    """Looks each second how much of each limit is used; ends the worker once, when it is too much."""

    def __init__(
        self, wish: Wish, own_bytes: Callable[[], Optional[int]], findings: Callable[[], List[Finding]],
        limits: Optional[Limits] = None, clock: Callable[[], float] = time.monotonic,
        placed: Callable[[], Place] = place, lock: Optional[SiblingLock] = None,
    ) -> None:  # fmt: skip
        self._wish, self._own_bytes, self._findings = wish, own_bytes, findings
        self._limits = Limits() if limits is None else limits
        self._clock, self._place = clock, placed
        self._lock = SiblingLock("recycle") if lock is None else lock
        self.is_over = False
        self._begin()
        forks.in_child(self._in_child)

    def _begin(self) -> None:
        now = self._clock()
        self._began, self._since = now, time.time()
        self._due = now + random.random() * _PAUSE_SECONDS  # workers that were started together do not look together
        self._least: Optional[int] = None  # of its own, since it has started up
        self._readings = 0  # in a row, of a limit that is full
        self._ends_at: Optional[float] = None  # its turn has come
        # Where nobody can have the name alone, chance has to keep workers apart.
        self._wait_until = now if IS_POSSIBLE else now + random.random() * _APART_SECONDS

    def _in_child(self) -> None:
        """Of forked children only the workers of a server are replaced: those of a master that was asked before."""
        self._lock.give_back()
        self.is_over = not self._place().is_master
        self._begin()

    def leave(self) -> None:
        """Look no more."""
        self.is_over = True
        forks.no_longer(self._in_child)
        self._lock.give_back()

    # -- each second

    def look(self) -> None:
        """Look, if it is time to."""
        now = self._clock()
        if self.is_over or now < self._due:
            return
        self._due = now + _PAUSE_SECONDS
        self._look_at_others(now)
        full = self._full(now)
        self._readings = self._readings + 1 if full is not None else 0
        if full is None:
            self._ends_at = None
            self._lock.give_back()
            return
        is_urgent = full.share >= (1 + self._wish.at) / 2
        if self._readings >= _READINGS or is_urgent:
            self._leave_in_turn(full, now, is_urgent)

    def _full(self, now: float) -> Optional[Full]:
        """The limit of which most is used, where that is too much and a new worker would give some of it back."""
        own = self._own_bytes()
        if own is None or now - self._began < self._wish.startup_seconds:
            return None
        if self._least is None:
            self._since = time.time()
        self._least = own if self._least is None else min(self._least, own)
        gained = own - self._least
        found = [
            Full(limit, gained) for limit in self._limits.read()
            if limit.used_bytes >= self._wish.at * limit.bytes and gained >= _LEAST_GAINED * limit.bytes
        ]  # fmt: skip
        return max(found, key=lambda one: one.share, default=None)

    def _leave_in_turn(self, full: Full, now: float, is_urgent: bool) -> None:
        """One worker at a time, unless the limit comes first."""
        where = self._place()
        if where.is_master:
            self.is_over = True
            return
        why = self._why_not(where)
        if why:
            self.is_over = True
            guard.logger.warning("%s; the process is not replaced: %s", self._reason(full), why)
            return
        if self._has_its_turn(now) or is_urgent:
            self._end(where, full)

    def _look_at_others(self, now: float) -> None:
        """Who is about to end has the lock; it may have gone before this process is full."""
        if self._ends_at is not None:
            return
        if self._lock.take():
            self._lock.give_back()
        else:
            self._wait_until = now + _APART_SECONDS

    def _has_its_turn(self, now: float) -> bool:
        if self._ends_at is None:
            if now < self._wait_until or not self._lock.take():
                return False
            self._ends_at = now + _SAID_SECONDS
        return now >= self._ends_at

    def _why_not(self, where: Place) -> str:
        wish = self._wish
        if wish.on_full is not None or where.server:
            return ""
        if not wish.supervised:
            return "nobody is known who starts it again; recycle(supervised=True) says that somebody does"
        return where.is_deaf and "%s; give recycle() an on_full" % where.is_deaf

    def _end(self, where: Place, full: Full) -> None:
        self.is_over = True
        reason = self._reason(full)
        if self._wish.on_full is not None:
            guard.logger.warning("%s; on_full is called", reason)
            try:
                self._wish.on_full(reason)
            except Exception:
                guard.failed("recycle: on_full")
            return
        who = where.server or "whoever started it"
        guard.logger.warning("%s; the process finishes what it does and ends, for %s to replace it", reason, who)
        os.kill(os.getpid(), signal.SIGTERM)

    def _reason(self, full: Full) -> str:
        """In the log: how much of which limit, how much of that is ours, and what leaks most."""
        limit = full.limit
        text = "process %d: %.3g %% of the %s of %s is used, %s of it gained by this process %s" % (
            os.getpid(), 100 * full.share, limit.name, size_of(limit.bytes), size_of(full.gained_bytes),
            since_of(0, "hour", self._since),
        )  # fmt: skip
        leaks = [one for one in self._findings() if one.is_sure]
        if leaks:
            most = max(leaks, key=lambda one: one.bytes)
            text += "; most of it leaks at %s: %s" % (most.site.short, most.cause) if most.site.line else ""
        return text


def wish(at: Any, on_full: Any, supervised: Any, startup_seconds: Any) -> Wish:
    """What was asked for, checked; a ConfigError names the argument, its value and what is allowed."""
    for name, value, is_good, allowed in (
        ("at", at, _is_number(at) and 0 < at < 1, "a share of the limit, above 0 and below 1"),
        ("on_full", on_full, on_full is None or callable(on_full), "a function that takes the reason, a text"),
        ("supervised", supervised, isinstance(supervised, bool), "True or False"),
        ("startup_seconds", startup_seconds, _is_number(startup_seconds) and 0 <= startup_seconds < 1e9,
         "a number of seconds, at least 0"),
    ):  # fmt: skip
        if not is_good:
            raise ConfigError("recycle() has %s=%r; it must be %s" % (name, value, allowed))
    return Wish(at, on_full, supervised, startup_seconds)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
