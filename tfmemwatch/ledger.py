"""What is alive and what has happened, by kind and line. The one lock."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from types import CodeType
from typing import Any, Callable, Collection, Deque, Dict, List, Optional, Set, Tuple, Union

from .model import OTHER, Key, Site, Tally
from .site import first_line

_DRAIN_AT = 4096  # events that may wait to be counted before the one that adds another counts them
_ACCOUNT_BYTES, _LIFE_BYTES = 700, 300  # of one line and of one living thing, as measured

# Where something happened: a site, or a code object and a line of it that become one when it is counted.
Place = Union[Site, Tuple[CodeType, int]]
_BORN, _HAPPENED, _UNDONE, _ENDED = range(4)


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


class Ledger:
    """Counts births and deaths by line; bounded in lines, and in memory by what is alive.

    What happens is put into one queue, by the program's threads and by finalizers alike, without a lock; whoever reads
    counts it. The queue keeps order: a thing that ends has been born before, and ids are not mixed up.
    """

    def __init__(self, max_sites: int = 1000) -> None:
        self._max_sites = max_sites
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything and make new locks: for the child of a fork."""
        self._lock = threading.Lock()
        self._events: Deque[Any] = deque()
        self._put = self._events.append  # the one atomic thing that a hook or a weakref callback does
        self._accounts: Dict[Key, _Account] = {}
        self._readings: Dict[Key, Tally] = {}
        self._changed: Set[Key] = set()
        self._sites: Dict[str, int] = {}
        self._living: Dict[int, _Life] = {}  # by id(ref): a reference to a variable or tensor can't be hashed
        self._by_thing: Dict[int, int] = {}  # id(thing) -> id(ref), for what ends before it dies
        self._unsized: List[_Life] = []
        self.folded = 0  # events counted under OTHER since their table was full

    def born(
        self, kind: str, place: Place, thing: Any, sizer: Optional[Callable[[Any], int]] = None,
        note: str = "", stack: Tuple[Site, ...] = (), ends: bool = False,
    ) -> None:  # fmt: skip
        """Count a thing as alive until it is collected, or until `ended` where it says that it ends."""
        ref = weakref.ref(thing, self._put)
        self._put((_BORN, kind, place, ref, id(thing) if ends else 0, sizer, note, stack))
        if len(self._events) > _DRAIN_AT:
            self._count(wait=False)

    def ended(self, thing: Any, how: str) -> None:
        """A thing that was closed is no longer alive, though held; counted under `how`. Safe in a finalizer."""
        self._put((_ENDED, id(thing), how))

    def happened(
        self, kind: str, place: Place, times: int = 1, size: int = 0, seconds: float = 0.0,
        note: str = "", stack: Tuple[Site, ...] = (),
    ) -> None:  # fmt: skip
        """Count an event that leaves something behind which nothing takes away."""
        self._put((_HAPPENED, kind, place, times, size, seconds, note, stack))
        if len(self._events) > _DRAIN_AT:
            self._count(wait=False)

    def undone(self, kind: str, place: Place, times: int = 1, size: int = 0) -> None:
        """What some events left behind has gone with its owner. Safe in a finalizer."""
        self._put((_UNDONE, kind, place, times, size))

    def read(self) -> Dict[Key, Tally]:
        """Every account as it stands, the dead counted and the new ones weighed."""
        self._count()
        self._weigh()
        with self._lock:
            for key in self._changed:
                self._readings[key] = self._accounts[key].reading()
            self._changed.clear()
            return dict(self._readings)

    @property
    def own_bytes(self) -> int:
        """About what these tables hold themselves."""
        return len(self._accounts) * _ACCOUNT_BYTES + len(self._living) * _LIFE_BYTES + len(self._events) * 200

    def ages(self, kind: str) -> List[Tuple[Site, float]]:
        """The living things of a kind: their lines, and for how many seconds they have been there."""
        now = time.monotonic()
        with self._lock:
            lives = [life for life in self._living.values() if life.account.key.kind == kind]
        return [(life.account.key.site, now - life.since) for life in lives]

    def references(self, kind: str, most: int) -> List[Tuple[Site, Any]]:
        """The line of each living thing of a kind, and a weak reference to it; the oldest first."""
        with self._lock:
            lives = [life for life in self._living.values() if life.account.key.kind == kind]
        return [(life.account.key.site, life.ref) for life in lives[:most]]

    def living(self, kinds: Collection[str], site: Site, most: int = 4) -> List[Any]:
        """Some of the things of these kinds that were made at a line and are alive, spread over their ages."""
        with self._lock:
            refs = [life.ref for life in self._living.values()
                    if life.account.key.site == site and life.account.key.kind in kinds]  # fmt: skip
        chosen = refs[:: max(1, len(refs) // most)][:most]
        return [thing for thing in (ref() for ref in chosen) if thing is not None]

    def _account(self, kind: str, place: Place, note: str, stack: Tuple[Site, ...]) -> _Account:
        site = site_of(place)
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

    def _count(self, wait: bool = True) -> None:
        """Count all that is in the queue; without waiting, leave it to whoever is at it."""
        if not self._lock.acquire(wait):
            return
        try:
            events = self._events
            for _ in range(len(events)):  # what comes while we count is counted by the next reader
                event = events.popleft()
                if type(event) is tuple:
                    _COUNTERS[event[0]](self, *event[1:])
                else:
                    self._died(event)
        finally:
            self._lock.release()

    def _count_birth(
        self, kind: str, place: Place, ref: Any, thing: int, sizer: Optional[Callable[[Any], int]],
        note: str, stack: Tuple[Site, ...],
    ) -> None:  # fmt: skip
        account = self._account(kind, place, note, stack)
        account.born += 1
        life = _Life(ref, account, sizer, thing)
        self._living[id(ref)] = life
        if sizer is not None:
            self._unsized.append(life)
            if len(self._unsized) > 2 * len(self._living) + _DRAIN_AT:
                self._unsized = [one for one in self._unsized if one.sizer is not None]
        if thing:
            self._by_thing[thing] = id(ref)

    def _count_event(
        self,
        kind: str,
        place: Place,
        times: int,
        size: int,
        seconds: float,
        note: str,
        stack: Tuple[Site, ...],
    ) -> None:
        account = self._account(kind, place, note, stack)
        account.born += times
        account.bytes += size
        account.live_bytes += size
        account.seconds += seconds

    def _count_undone(self, kind: str, place: Place, times: int, size: int) -> None:
        account = self._account(kind, place, "", ())
        account.died += times
        account.live_bytes -= size

    def _count_end(self, thing: int, how: str) -> None:
        life = self._living.pop(self._by_thing.pop(thing, 0), None)
        if life is not None:
            self._settle(life)
            self._account(how, life.account.key.site, "", ()).born += 1

    def _died(self, ref: Any) -> None:
        life = self._living.pop(id(ref), None)
        if life is None:
            return
        self._settle(life)
        if life.thing:  # in a cycle the reference goes before `__del__`, whose close comes too late to be counted
            self._account(life.account.key.kind + "_dropped", life.account.key.site, "", ()).born += 1

    def _settle(self, life: _Life) -> None:
        account = life.account
        self._changed.add(account.key)
        account.died += 1
        account.live_bytes -= life.bytes
        life.sizer = None
        if self._by_thing.get(life.thing) == id(life.ref):
            self._by_thing.pop(life.thing, None)

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


_COUNTERS: Dict[int, Callable[..., None]] = {
    _BORN: Ledger._count_birth,
    _HAPPENED: Ledger._count_event,
    _UNDONE: Ledger._count_undone,
    _ENDED: Ledger._count_end,
}


def site_of(place: Place) -> Site:
    """The site of a place."""
    if isinstance(place, Site):
        return place
    code, line = place
    return Site(code.co_filename, first_line(code.co_filename, line), code.co_name)


def _size(sizer: Callable[[Any], int], thing: Any) -> int:
    try:
        return int(sizer(thing))
    except Exception:
        return 0  # a shape that is not known has no size
