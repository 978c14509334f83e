"""What is alive and what has happened, by kind and line."""

from __future__ import annotations

import itertools
import time
from _weakref import getweakrefs
from collections import deque
from types import CodeType
from typing import Any, Callable, Collection, Deque, Dict, List, Optional, Set, Tuple, Union

from ..model import OTHER, Key, Site, Tally
from ..safety.turn import WAIT_SECONDS, Turn
from .account import Account, Makers, ThingReference, value_of
from .site import first_line

_RECENT = 2000  # things that may have been made since
_order = itertools.count()  # of the births, all lines together
_DRAIN_AT = 4096  # events that may wait to be counted before the one that adds another counts them
# Of one line, one living thing, one event, and one step of the program's code, as measured.
_ACCOUNT_BYTES, _LIFE_BYTES, _EVENT_BYTES, _MAKER_BYTES = 900, 200, 150, 300

# Where something happened: a site, or a code object and a line of it that become one when it is read.
Place = Union[Site, Tuple[CodeType, int]]


class Ledger:
    """Counts births and deaths by line; bounded in lines, and in memory by what is alive.

    The living are weak references in a set, which each leaves when its thing dies: nothing is left of what is dead.
    Only events with a size or a time wait in a queue until somebody reads.
    """

    def __init__(self, max_sites: int = 1000) -> None:
        self._max_sites = max_sites
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything: for the child of a fork."""
        self._lock = Turn()  # to count; never waited for by a hook
        self._numbers = itertools.count()
        self._folded = itertools.count()
        self._used: Dict[str, int] = {}  # accounts by kind
        self.accounts: Dict[Tuple[Any, ...], Account] = {}  # the hot hook looks for its own here
        self.makers = Makers()
        self._numbered: Dict[int, Account] = {}
        self._by_key: Dict[Key, Dict[int, Account]] = {}
        self.latest: Dict[Key, Tally] = {}  # the last complete readings; replaced as a whole
        self._events: Deque[Tuple[int, int, int, int, int, float]] = deque()
        self._put = self._events.append  # the one atomic thing that a hook or a finalizer does

    # -- what happens: in the program's threads, in finalizers and in signal handlers

    def born(
        self, kind: str, place: Place, thing: Any, sizer: Optional[Callable[[Any], int]] = None,
        note: str = "", stack: Tuple[Site, ...] = (), ends: bool = False,
    ) -> Account:  # fmt: skip
        """Count a thing as alive until it is collected, or until `ended` where it says that it ends."""
        account = self._account(kind, place, note, stack, True)
        self.born_at(account, thing, sizer, ends)
        return account

    @staticmethod
    def born_at(account: Account, thing: Any, sizer: Optional[Callable[[Any], int]], ends: bool) -> None:
        """Count a thing as alive, where its account is known."""
        ref = ThingReference(thing, account.gone)
        ref.account = account
        ref.order = next(_order)
        if sizer is not None:
            ref.sizer = sizer
            account.is_sized = True
        if ends:
            account.ends = True
            ref.since = time.monotonic()
        account.add(ref)
        next(account.made)  # after it is among the living: who reads in between sees no death
        account.is_new = True

    def ended(self, thing: Any, how: str) -> None:
        """A thing that was closed is no longer alive, though held; counted under `how`. Safe in a finalizer."""
        for ref in getweakrefs(thing):
            account = ref.account if type(ref) is ThingReference else None
            if account is not None and account.ends and self._numbered.get(account.number) is account:  # of this ledger
                next(account.closed)  # before it leaves the living: who reads in between sees none that was dropped
                try:
                    account.alive.remove(ref)
                except KeyError:  # another thread was first
                    next(account.not_closed)
                    return
                end = account.ended.get(how) or account.ended.setdefault(how, self._at(how, account))
                next(end.made)
                end.is_new = True

    def happened(
        self, kind: str, place: Place, times: int = 1, size: int = 0, seconds: float = 0.0,
        note: str = "", stack: Tuple[Site, ...] = (),
    ) -> None:  # fmt: skip
        """Count an event that leaves something behind which nothing takes away."""
        account = None
        if type(place) is tuple:  # `_account` once more, without its call
            code, line = place  # type: ignore[misc]
            account = self.accounts.get((kind, False, code.co_filename, line, code.co_name))
        if account is None:
            account = self._account(kind, place, note, stack, False)
        if times == 1 and not size and not seconds:
            next(account.made)
            account.is_new = True
            return
        self._put((account.number, times, 0, size, size, seconds))
        if len(self._events) > _DRAIN_AT:
            self._count(wait=False)

    def undone(self, kind: str, place: Place, times: int = 1, size: int = 0) -> None:
        """What some events left behind has gone with its owner. Safe in a finalizer."""
        self._put((self._account(kind, place, "", (), False).number, 0, times, -size, 0, 0.0))

    def _account(self, kind: str, place: Place, note: str, stack: Tuple[Site, ...], of_things: bool) -> Account:
        key: Tuple[Any, ...]
        if type(place) is tuple:  # no Site, which is one of another type
            code, line = place  # type: ignore[misc]
            key = (kind, of_things, code.co_filename, line, code.co_name)
        else:
            key = (kind, of_things, place)
        return self.accounts.get(key) or self._new_account(key, note, stack)

    def _at(self, kind: str, account: Account) -> Account:
        """The account of another kind of event, at the same line."""
        key = (kind, False, *account.place)
        return self.accounts.get(key) or self._new_account(key, "", ())

    def _new_account(self, key: Tuple[Any, ...], note: str, stack: Tuple[Site, ...]) -> Account:
        kind, of_things, place = key[:3]
        used = self._used.get(kind, 0)
        if used >= self._max_sites and place is not OTHER:
            next(self._folded)
            return self._account(kind, OTHER, "", (), of_things)
        number = next(self._numbers)
        account = self._numbered[number] = Account(key, number, note, stack)
        kept = self.accounts.setdefault(key, account)
        if kept is account:
            self._used[kind] = used + 1
        else:  # another thread was first
            self._numbered.pop(number, None)
        return kept

    # -- what is read

    def read(self) -> Dict[Key, Tally]:
        """Every account as it stands; the last complete reading where this thread, or for long another, is at it."""
        for account in list(self._numbered.values()):
            if account.key is None:
                account.key = Key(account.kind, _site(account.place))
        self._weigh()
        self._lock.take(self._publish)
        return dict(self.latest)

    @property
    def folded(self) -> int:
        """Events counted under OTHER since their table was full."""
        return value_of(self._folded)

    @property
    def own_bytes(self) -> int:
        """About what these tables hold themselves."""
        living = sum(len(account.alive) for account in list(self._numbered.values()))
        lines = len(self._numbered) * _ACCOUNT_BYTES + len(self.makers) * _MAKER_BYTES
        return lines + living * _LIFE_BYTES + len(self._events) * _EVENT_BYTES

    def ages(self, kind: str) -> List[Tuple[Site, float]]:
        """The living things of a kind that end: their lines, and for how many seconds they have been there."""
        now = time.monotonic()
        return [(_site(ref.account.place), now - ref.since) for ref in self._living(kind)]

    def references(self, kind: str, most: int) -> List[Tuple[Site, Any]]:
        """The line of each living thing of a kind, and a weak reference to it; the oldest first."""
        return [(_site(ref.account.place), ref) for ref in self._living(kind)[:most]]

    def references_at(self, kinds: Collection[str], site: Site, most: int = 4) -> List[Any]:
        """Weak references to some of the things of these kinds that were made at a line, spread over their ages.

        The last of them is recent: of a long collection a search looks at the newest. It is not the newest of all, as
        who makes that may still have it in hand.
        """
        refs = [ref for kind in kinds for ref in self._living(kind) if _site(ref.account.place) == site]
        if len(refs) <= most:
            return refs
        recent = len(refs) - 1 - min(len(refs) // most, _RECENT)
        return [*refs[: recent : len(refs) // most][: most - 1], refs[recent]]

    def _living(self, kind: str) -> List[ThingReference]:
        refs: List[ThingReference] = []
        for account in list(self._numbered.values()):
            if account.kind == kind:
                refs += list(account.alive)
        return sorted(refs, key=lambda ref: ref.order)

    def _count(self, wait: bool = True) -> None:
        """Count all that is in the queue; without waiting, leave it to whoever is at it."""
        self._lock.take(self._drain, WAIT_SECONDS if wait else 0)

    def _drain(self) -> None:
        events, numbered = self._events, self._numbered
        for _ in range(len(events)):  # what comes while we count is counted by the next reader
            number, born, died, live_bytes, size, seconds = events.popleft()
            account = numbered[number]
            account.born += born
            account.died += died
            account.live_bytes += live_bytes
            account.bytes += size
            account.seconds += seconds
            account.is_new = True

    def _weigh(self) -> None:
        """Sizes are asked for when read, off the program's own path, and never under a lock."""
        for account in list(self._numbered.values()):
            if not account.is_sized or not account.has_changed:
                continue
            for ref in list(account.alive):
                sizer = getattr(ref, "sizer", None)
                thing = ref() if sizer is not None and not hasattr(ref, "bytes") else None
                if thing is None or sizer is None:
                    continue
                size = _size(sizer, thing)
                del thing
                if not hasattr(ref, "bytes"):  # no other thread was first
                    ref.bytes = size
                    self._put((account.number, 0, 0, 0, size, 0.0))

    def _publish(self) -> None:
        self._drain()
        changed: Set[Key] = set()
        for account in list(self._numbered.values()):
            if account.key is not None and account.has_changed:
                changed.add(account.key)
                self._by_key.setdefault(account.key, {})[account.number] = account
                if account.of_things:
                    account.refresh()
                    changed.update(self._dropped(account))
                else:
                    account.is_new = False
        readings = dict(self.latest)
        for key in changed:
            readings[key] = _reading(key, list(self._by_key[key].values()))
        self.latest = readings

    def _dropped(self, account: Account) -> List[Key]:
        """What died unclosed. In a cycle the reference goes before `__del__`, whose close is too late to be counted."""
        ended = value_of(account.closed) - value_of(account.not_closed)
        dropped = account.died - ended - account.dropped if account.ends else 0
        if dropped <= 0 or account.key is None:
            return []
        account.dropped += dropped
        end = self._at(account.kind + "_dropped", account)
        end.born += dropped
        end.key = Key(end.kind, account.key.site)
        self._by_key.setdefault(end.key, {})[end.number] = end
        return [end.key]


def _reading(key: Key, accounts: List[Account]) -> Tally:
    """One kind at one line may have things and events, and be reached from several functions."""
    first = accounts[0]
    born = sum(one.born + (0 if one.of_things else value_of(one.made)) for one in accounts)
    return Tally(
        key, born, sum(one.died for one in accounts), sum(one.live_bytes for one in accounts),
        sum(one.bytes for one in accounts), sum(one.seconds for one in accounts), first.number, first.note, first.stack,
    )  # fmt: skip


def _site(place: Tuple[Any, ...]) -> Site:
    if len(place) == 1:
        site: Site = place[0]
        return site
    file, line, function = place
    return Site(file, first_line(file, line), function)


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
