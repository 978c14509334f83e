"""What is alive and what has happened, by kind and line. The one lock."""
from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Set, Tuple

from .model import OTHER, Key, Site, Tally

_DRAIN_AT = 2048  # deaths that may wait to be counted before a birth counts them


class _Account:
    """The running count of one kind of thing at one line."""

    __slots__ = ("born", "bytes", "died", "key", "live_bytes", "note", "order", "seconds", "stack")

    def __init__(self, key: Key, order: int, note: str, stack: Tuple[Site, ...]) -> None:
        self.key = key
        self.order = order
        self.note = note
        self.stack = stack
        self.born = self.died = self.live_bytes = self.bytes = 0
        self.seconds = 0.0

    def reading(self) -> Tally:
        return Tally(
            self.key, self.born, self.died, self.live_bytes, self.bytes,
            self.seconds, self.order, self.note, self.stack,
        )  # fmt: skip


class _Life:
    """One living thing: where it is counted, and what it weighs."""

    __slots__ = ("account", "bytes", "ref", "since", "sizer", "thing")

    def __init__(self, ref: Any, account: _Account, sizer: Optional[Callable[[Any], int]], thing: int) -> None:
        self.ref = ref
        self.account = account
        self.bytes = 0
        self.sizer = sizer
        self.thing = thing  # its id, where it may end before it dies
        self.since = time.monotonic()


class _Undone(NamedTuple):
    kind: str
    site: Site
    times: int
    size: int


class Ledger:
    """Counts births and deaths by line; bounded in lines, and in memory by what is alive."""

    def __init__(self, max_sites: int = 1000) -> None:
        self._max_sites = max_sites
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything and make new locks: for the child of a fork."""
        self._lock = threading.Lock()
        self._accounts: Dict[Key, _Account] = {}
        self._readings: Dict[Key, Tally] = {}
        self._changed: Set[Key] = set()
        self._sites: Dict[str, int] = {}
        self._living: Dict[int, _Life] = {}  # by id(ref): a reference to a variable or tensor can't be hashed
        self._by_thing: Dict[int, int] = {}  # id(thing) -> id(ref), for what ends before it dies
        self._dead: Deque[Any] = deque()  # filled by weakref callbacks, which may do one atomic thing only
        self._bury = self._dead.append
        self._unsized: List[_Life] = []
        self.folded = 0  # events counted under OTHER since their table was full

    def born(
        self, kind: str, site: Site, thing: Any, sizer: Optional[Callable[[Any], int]] = None,
        note: str = "", stack: Tuple[Site, ...] = (), ends: bool = False,
    ) -> None:  # fmt: skip
        """Count a thing as alive until it is collected, or until `ended` where it says that it ends."""
        ref = weakref.ref(thing, self._bury)
        if len(self._dead) > _DRAIN_AT:
            self._count_deaths()
        with self._lock:
            account = self._account(kind, site, note, stack)
            account.born += 1
            life = _Life(ref, account, sizer, id(thing) if ends else 0)
            self._living[id(ref)] = life
            if sizer is not None:
                self._unsized.append(life)
            if ends:
                self._by_thing[id(thing)] = id(ref)

    def ended(self, thing: Any, how: str) -> None:
        """A thing that was closed is no longer alive, though held; counted under `how`. Safe in a finalizer."""
        ref_id = self._by_thing.pop(id(thing), 0)
        if ref_id:
            self._bury((ref_id, how))

    def happened(
        self, kind: str, site: Site, times: int = 1, size: int = 0, seconds: float = 0.0,
        note: str = "", stack: Tuple[Site, ...] = (),
    ) -> None:  # fmt: skip
        """Count an event that leaves something behind which nothing takes away."""
        with self._lock:
            account = self._account(kind, site, note, stack)
            account.born += times
            account.bytes += size
            account.live_bytes += size
            account.seconds += seconds

    def undone(self, kind: str, site: Site, times: int = 1, size: int = 0) -> None:
        """What some events left behind has gone with its owner. Safe in a finalizer."""
        self._bury(_Undone(kind, site, times, size))

    def read(self) -> Dict[Key, Tally]:
        """Every account as it stands, the dead counted and the new ones weighed."""
        self._count_deaths()
        self._weigh()
        with self._lock:
            for key in self._changed:
                self._readings[key] = self._accounts[key].reading()
            self._changed.clear()
            return dict(self._readings)

    def ages(self, kind: str) -> List[Tuple[Site, float]]:
        """The living things of a kind: their lines, and for how many seconds they have been there."""
        now = time.monotonic()
        with self._lock:
            lives = [life for life in self._living.values() if life.account.key.kind == kind]
        return [(life.account.key.site, now - life.since) for life in lives]

    def _account(self, kind: str, site: Site, note: str, stack: Tuple[Site, ...]) -> _Account:
        key = Key(kind, site)
        account = self._accounts.get(key)
        if account is not None:
            self._changed.add(key)
            return account
        used = self._sites.get(kind, 0)
        if used >= self._max_sites and site is not OTHER:
            self.folded += 1
            return self._account(kind, OTHER, "", ())
        self._sites[kind] = used + 1
        account = self._accounts[key] = _Account(key, len(self._accounts), note, stack)
        self._changed.add(key)
        return account

    def _count_deaths(self) -> None:
        dead = self._dead
        with self._lock:
            while dead:
                self._count_death(dead.popleft())

    def _count_death(self, what: Any) -> None:
        if type(what) is _Undone:
            account = self._account(what.kind, what.site, "", ())
            account.died += what.times
            account.live_bytes -= what.size
            return
        ref_id, how = what if type(what) is tuple else (id(what), "")
        life = self._living.pop(ref_id, None)
        if life is not None:
            self._settle(life, how)

    def _settle(self, life: _Life, how: str) -> None:
        account = life.account
        self._changed.add(account.key)
        account.died += 1
        account.live_bytes -= life.bytes
        life.sizer = None
        if self._by_thing.get(life.thing) == id(life.ref):
            self._by_thing.pop(life.thing, None)
        if how:
            self._account(how, account.key.site, "", ()).born += 1

    def _weigh(self) -> None:
        """Sizes are asked for when read, off the program's own path, and never under the lock."""
        with self._lock:
            waiting, self._unsized = self._unsized, []
        for life in waiting:
            thing = life.ref()
            sizer = life.sizer
            if thing is None or sizer is None:
                continue
            size = _size(sizer, thing)
            del thing
            with self._lock:
                if life.sizer is not None:
                    life.bytes = size
                    life.account.live_bytes += size
                life.account.bytes += size
                self._changed.add(life.account.key)


def _size(sizer: Callable[[Any], int], thing: Any) -> int:
    try:
        return int(sizer(thing))
    except Exception:
        return 0  # a shape that is not known has no size
