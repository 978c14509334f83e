"""What each way of calling a model has left in memory: a reading now and then, from call to call."""

from __future__ import annotations

import weakref
from collections import deque
from time import monotonic, thread_time
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from ..growth.per_call import BytesPerCall, GrowthPerCall, Reading
from ..ledger.counts import Place, site_of
from ..model import UNKNOWN, Site
from ..reports import Calls
from ..safety import guard
from .scene import Scene

_NEAREST, _APART = 32, 64  # short calls between two readings, which cost what many hooks cost: at first; later
_WARM_UP = 256  # short calls in which a model builds and traces, and fills caches
_MOST_FRESH = 1024  # readings of one way of calling a model, between two looks
_LEAST_READINGS = 16  # before anybody asks whether they rise: of many models there are but a few calls
_READING_SHARE = 0.003  # of the time may go into readings for one way of calling a model, beyond the first ones
_QUICK_SECONDS, _QUICK_SHARE = 0.001, 0.001  # of calls that come faster than this: less, for each may cost 2 µs
_FREELY = 4


class Account:
    """The running count for one model and one method."""

    __slots__ = (
        "at",
        "calls",
        "disturbed",
        "fresh",
        "grown",
        "held",
        "in_use",
        "is_single",
        "measured",
        "method",
        "name",
        "native",
        "others",
        "owner",
        "read",
        "read_at",
        "readings",
        "ref",
        "rests",
        "retained",
        "rise",
        "site",
    )

    def __init__(self, model: Any, method: str, forget: Callable[[Any], Any]) -> None:
        self.ref = weakref.ref(model, forget)
        self.owner = id(model)
        self.is_single = True  # no model is called within its calls, and it is called within no other's
        self.name = "%s %s" % (type(model).__name__, getattr(model, "name", "") or "")
        self.method = method
        self.calls = 0
        self.retained = BytesPerCall()
        self.rise: Optional[GrowthPerCall] = None  # of what has been read often enough
        self.fresh: Deque[Reading] = deque(maxlen=_MOST_FRESH)  # since the last look
        self.site: Place = UNKNOWN  # the line of one of these calls, and not of the first: that one may be a warm-up
        self.disturbed = 0  # as of the last reading
        self.measured = 0  # calls in stretches whose ends could be compared
        self.grown = 0  # bytes in use over these, the first calls among them
        self.native = 0  # of these, what malloc has handed out: without Python's small objects
        self.in_use = 0  # of malloc, at the last reading
        self.held: Optional[int] = None  # bytes in use at the last reading, if that can be compared with the next
        self.read = self.read_at = 0  # calls at the last reading, and from which on there is another
        self.others = 0  # calls of all other models at the last reading
        self.readings = 0
        self.at = 0.0  # the moment of the last reading
        self.rests = 0.0  # no reading before this one


class ModelCalls:
    """The accounts of all models that live, one for each way in which a model is called."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._accounts: Dict[Tuple[int, str], Account] = {}
        self.hot: Dict[int, Account] = {}  # by id(model): those whose calls are only counted, until the next reading
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget what a parent process did."""
        self._accounts.clear()
        self.hot.clear()
        self.under_way: Dict[int, bool] = {}  # by thread; only used to set overlapping measurements aside

    def _forget(self, key: Tuple[int, str]) -> None:
        """In a weakref callback: two atomic steps and no lock."""
        self._accounts.pop(key, None)
        if key[1] == "__call__":
            self.hot.pop(key[0], None)

    def account(self, model: Any, method: str) -> Account:
        """Of this model, called in this way."""
        key = (id(model), method)
        account = self._accounts.get(key)
        if account is None:
            forget = self._forget
            account = self._accounts[key] = Account(model, method, lambda ref: forget(key))
        return account

    def read(self, account: Account, is_short: bool) -> None:
        """From the beginning of one call to that of a later one, results have come and gone: what is more, was left.

        A stretch in which another model was called, or calls overlapped, is nobody's.
        """
        is_warm = account.calls >= _WARM_UP or not is_short
        account.read_at = account.calls + ((_APART if is_warm else _NEAREST) if is_short else 1)
        now = monotonic()
        if now < account.rests:
            return
        began = thread_time()  # what waiting for other threads takes is none of its cost
        calls = account.calls - account.read
        others = sum(other.calls for other in list(self._accounts.values())) - account.calls
        disturbed = guard.disturbances[0]
        process = self._scene.process
        memory = process.read() if len(self.under_way) == 1 and not process.allocator.is_slow else None
        held = memory.held_bytes if memory is not None and disturbed == guard.disturbances[0] else None
        is_same = others == account.others and disturbed == account.disturbed
        if memory is not None and held is not None and account.held is not None and is_same:
            account.retained.add(calls, held - account.held)
            account.grown += held - account.held
            account.measured += calls
            account.native += (memory.in_use_bytes or 0) - account.in_use
            if is_warm and memory.in_use_bytes is not None:
                account.fresh.append(Reading(account.measured, account.native))
        account.in_use = (memory.in_use_bytes or 0) if memory is not None else 0
        account.held, account.others, account.read, account.disturbed = held, others, account.calls, disturbed
        took = thread_time() - began
        guard.spent["models"] += took
        account.readings += 1
        if account.readings == _LEAST_READINGS:
            account.site, _ = self._scene.where("model: " + account.method)
        if account.readings > _FREELY:
            is_quick = now - account.at < _QUICK_SECONDS * calls
            account.rests = now + took / (_QUICK_SHARE if is_quick else _READING_SHARE)
        account.at = now

    def judge(self) -> None:
        """Whether calls leave memory behind is judged where the watch looks, and not in the calls."""
        for account in list(self._accounts.values()):
            if account.rise is None and len(account.fresh) >= _LEAST_READINGS:
                account.rise = GrowthPerCall()
            if account.rise is not None:
                account.rise.add([account.fresh.popleft() for _ in range(len(account.fresh))])

    def growth(self) -> List[Tuple[Site, str, GrowthPerCall]]:
        """Of the calls that were measured often enough: the line, what was called, and what they have left."""
        return [
            (site_of(account.site), "%s.%s" % (account.name.strip(), account.method), account.rise)
            for account in list(self._accounts.values())
            if account.rise is not None
        ]

    def all(self) -> List[Calls]:
        """Every model that is alive, and how it has been called."""
        return [
            Calls(a.name.strip(), a.method, a.calls, a.retained.calls, a.retained.bytes, a.retained.error)
            for a in list(self._accounts.values())
            if a.calls
        ]

    def grown_by(self, model: Any) -> int:
        """What memory in use gained over the calls of a model, or of a signature of it."""
        signatures = getattr(model, "signatures", None) or {}
        owners = {id(model), *map(id, signatures.values())}
        return sum(account.grown for (owner, _), account in list(self._accounts.items()) if owner in owners)

    def called(self, kinds: Tuple[type, ...]) -> List[Any]:
        """Weak references to the models of these classes that were called, those from before the watch among them."""
        accounts = list(self._accounts.values())
        return [one.ref for one in accounts if one.calls and isinstance(one.ref(), kinds)]
