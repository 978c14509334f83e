"""Models: made where, compiled where, called how often, and what each call left in memory."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from time import monotonic, perf_counter, thread_time
from types import FrameType
from typing import Any, Callable, Deque, Dict, List, Optional, Set, Tuple

from .. import guard, tfapi
from ..ledger import Place, site_of
from ..model import UNKNOWN, Site
from ..patch import Make, Patch, where_defined
from ..retained import Mark, Retained, Rise
from ..sample import Calls
from .scene import Probe, Scene, quickly

WHOLE_CALLS = ("predict", "fit", "evaluate", "train_on_batch", "test_on_batch", "predict_on_batch")
_NEAREST, _APART = 32, 64  # short calls between two readings, which cost what many hooks cost: at first; later
_WARM_UP = 256  # short calls in which a model builds and traces, and fills caches
_MOST_FRESH = 1024  # readings of one way of calling a model, between two looks
_LEAST_READINGS = 16  # before anybody asks whether they rise: of many models there are but a few calls
_READING_SHARE = 0.003  # of the time may go into readings for one way of calling a model, beyond the first ones
_QUICK_SECONDS, _QUICK_SHARE = 0.001, 0.001  # of calls that come faster than this: less, for each may cost 2 µs
_FREELY = 4
_LOOKING = 2  # a depth: within a call in which others are noticed

_INSIDE = ("sequential.py",)


def _is_inside(caller: FrameType, model: Any) -> bool:
    """Whether this is the functional model inside a sequential one: no model that anybody made."""
    at: Optional[FrameType] = caller
    for _ in range(4):  # its own constructors lie in between
        if at is None:
            return False
        if at.f_code.co_filename.endswith(_INSIDE):
            return at.f_locals.get("self") is not model
        at = at.f_back
    return False


class _Account:
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
        self.retained = Retained()
        self.rise: Optional[Rise] = None  # of what has been read often enough
        self.fresh: Deque[Mark] = deque(maxlen=_MOST_FRESH)  # since the last look
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


class _Depth(threading.local):
    depth = 0  # of model calls on this thread
    is_composed = False  # another model was called within this call


class Models(Probe):
    """Sees models being made and compiled, and every way in which they are called; the outermost call counts."""

    name = "models"
    watches = "live models by line, compile() by line, calls of each model and the memory each left"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        guard.spent.setdefault("models", 0.0)
        self._seen: List[Any] = []
        self._symbolic: Set[type] = set()
        self._local = _Depth()
        self._accounts: Dict[Tuple[int, str], _Account] = {}
        self._hot: Dict[int, _Account] = {}  # by id(model): those whose calls are only counted, until the next reading
        self.start_afresh()

    def rest(self) -> None:
        self._hot.clear()

    def start_afresh(self) -> None:
        self._accounts.clear()
        self._hot.clear()
        self._local.depth = 0
        self._under_way = 0  # calls in all threads; only used to set overlapping measurements aside

    def install(self) -> None:
        self._eagerly = tfapi.find("executing_eagerly").value
        self._eager_tensor = tfapi.find("eager_tensor").value
        self.install_keras()
        if tfapi.has("saved_model_load"):
            self.after("saved_model_load", self._loaded)
        if tfapi.has("concrete_call"):
            self.wrap("concrete_call", self._call)  # a signature of a SavedModel called as a function is a model call

    def install_keras(self) -> None:
        for keras in tfapi.kerases():
            if any(keras.model is model for model in self._seen):
                continue
            self._seen.append(keras.model)
            self._symbolic.update(keras.symbolic)
            self._wrap_model(keras.model)
            for optimizer in keras.optimizers:
                self.patches.append(
                    Patch(optimizer, "__init__", quickly(self._optimizer, "models: optimizer", self.scene))
                )

    def uninstall(self) -> None:
        super().uninstall()
        self._seen = []
        self.rest()

    def _wrap_model(self, model: Any) -> None:
        self.patches.append(Patch(model, "__init__", self._made))
        self.patches.append(Patch(model, "__call__", self._call))  # of models alone, though layers define it
        compiled = quickly(self._compiled, "models: compile", self.scene)
        self.patches.append(Patch(where_defined(model, "compile"), "compile", compiled))
        for method in WHOLE_CALLS:
            if hasattr(model, method):
                self.patches.append(Patch(where_defined(model, method), method, self._whole(method)))

    def _made(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        """Before the constructor: what it makes comes after the model in every account."""

        def made(*args: Any, **kwargs: Any) -> None:
            if patch.is_live and self.scene.rank:
                began = perf_counter()
                try:
                    if not _is_inside(sys._getframe(1), args[0]):
                        self.scene.born("model", args[0], makes=True)
                    guard.spent["models"] += perf_counter() - began
                except Exception:
                    guard.failed("models: made")
            original(*args, **kwargs)

        return made

    def _loaded(self, result: Any, *args: Any, **kwargs: Any) -> None:
        """A SavedModel that is loaded is a model, whatever its class."""
        root = result.get("root") if isinstance(result, dict) else None
        if root is not None:
            self.scene.born("model", root)

    def _compiled(self, model: Any) -> None:
        self.scene.happened("compile")

    def _optimizer(self, optimizer: Any) -> None:
        self.scene.born("optimizer", optimizer, makes=True)

    def _forget(self, key: Tuple[int, str]) -> None:
        """In a weakref callback: two atomic steps and no lock."""
        self._accounts.pop(key, None)
        if key[1] == "__call__":
            self._hot.pop(key[0], None)

    def _account(self, model: Any, method: str) -> _Account:
        key = (id(model), method)
        account = self._accounts.get(key)
        if account is None:
            forget = self._forget
            account = self._accounts[key] = _Account(model, method, lambda ref: forget(key))
        return account

    def _call(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        """The hot one. All that is read here has to be fetched from afar: a model call flushes the caches."""
        hot, eager_tensor = self._hot, self._eager_tensor
        outermost = self._outermost_if(patch, original, "__call__")

        def call(*args: Any, **kwargs: Any) -> Any:
            account = hot.get(id(args[0])) if args else None
            if account is None or account.calls >= account.read_at or type(args[-1]) is not eager_tensor:
                return outermost(*args, **kwargs)
            account.calls += 1
            return original(*args, **kwargs)

        return call

    def _outermost_if(self, patch: Patch, original: Callable[..., Any], method: str) -> Callable[..., Any]:
        """A call, counted unless it is within another one, or nobody watches."""
        local, scene = self._local, self.scene

        def counted(*args: Any, **kwargs: Any) -> Any:
            if not args or not patch.is_live or not scene.rank:
                return original(*args, **kwargs)
            if local.depth:
                if local.depth == _LOOKING:
                    self._contained(args[0])
                return original(*args, **kwargs)
            return self._outermost(original, method, args, kwargs, patch)

        counted.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph may rewrite the seam, but not this
        return counted

    def _outermost(
        self, original: Callable[..., Any], method: str, args: Any, kwargs: Dict[str, Any], patch: Patch
    ) -> Any:
        local = self._local
        local.depth = 1
        local.is_composed = False
        account = self._begin(args, method)
        try:
            return original(*args, **kwargs)
        finally:
            local.depth = 0
            self._under_way -= 1
            if account is not None:
                self._heat(account, patch)

    def _heat(self, account: _Account, patch: Patch) -> None:
        """Calls of a model that neither contains nor is contained need no look at who calls them."""
        account.is_single = account.is_single and not self._local.is_composed
        if account.is_single and account.method == "__call__":
            self._hot[account.owner] = account
            if not patch.is_live or not self.scene.rank or account.ref() is None:
                self._hot.pop(account.owner, None)

    def _contained(self, model: Any) -> None:
        """A model called within a call: each of its calls has to be looked at, and those of the one around it."""
        try:
            if self._eagerly():
                self._local.is_composed = True
                self._account(model, "__call__").is_single = False
        except Exception:
            guard.failed("models: inside")

    def _whole(self, method: str) -> Make:
        return lambda original, patch: self._outermost_if(patch, original, method)

    def _begin(self, args: Any, method: str) -> Optional[_Account]:
        self._under_way += 1
        try:
            is_short = method == "__call__"
            if is_short and not self._eagerly():
                method = "__call__ (traced)"
            elif is_short and type(args[-1]) in self._symbolic:
                method = "__call__ (symbolic)"
            account = self._account(args[0], method)
            if account.calls >= account.read_at:
                self._hot.clear()  # so that models within this one are seen
                self._local.depth = _LOOKING
                self._read(account, is_short)
            account.calls += 1
        except Exception:
            guard.failed("models: call")
            return None
        return account

    def _read(self, account: _Account, is_short: bool) -> None:
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
        memory = self.scene.process.read() if self._under_way == 1 else None
        held = memory.held_bytes if memory is not None and disturbed == guard.disturbances[0] else None
        is_same = others == account.others and disturbed == account.disturbed
        if memory is not None and held is not None and account.held is not None and is_same:
            account.retained.add(calls, held - account.held)
            account.grown += held - account.held
            account.measured += calls
            account.native += (memory.in_use_bytes or 0) - account.in_use
            if is_warm and memory.in_use_bytes is not None:
                account.fresh.append(Mark(account.measured, account.native))
        account.in_use = (memory.in_use_bytes or 0) if memory is not None else 0
        account.held, account.others, account.read, account.disturbed = held, others, account.calls, disturbed
        took = thread_time() - began
        guard.spent["models"] += took
        account.readings += 1
        if account.readings == _LEAST_READINGS:
            account.site, _ = self.scene.where("model: " + account.method)
        if account.readings > _FREELY:
            is_quick = now - account.at < _QUICK_SECONDS * calls
            account.rests = now + took / (_QUICK_SHARE if is_quick else _READING_SHARE)
        account.at = now

    def read(self) -> None:
        """Whether calls leave memory behind is judged where the watch looks, and not in the calls."""
        for account in list(self._accounts.values()):
            if account.rise is None and len(account.fresh) >= _LEAST_READINGS:
                account.rise = Rise()
            if account.rise is not None:
                account.rise.add([account.fresh.popleft() for _ in range(len(account.fresh))])

    def rises(self) -> List[Tuple[Site, str, Rise]]:
        """Of the calls that were measured often enough: the line, what was called, and what they have left."""
        return [
            (site_of(account.site), "%s.%s" % (account.name.strip(), account.method), account.rise)
            for account in list(self._accounts.values())
            if account.rise is not None
        ]

    def calls(self) -> List[Calls]:
        """Every model that is alive, and how it has been called."""
        return [
            Calls(a.name.strip(), a.method, a.calls, a.retained.calls, a.retained.bytes, a.retained.error)
            for a in list(self._accounts.values())
            if a.calls
        ]

    def grown(self, model: Any) -> int:
        """What memory in use gained over the calls of a model, or of a signature of it."""
        signatures = getattr(model, "signatures", None) or {}
        owners = {id(model), *map(id, signatures.values())}
        return sum(account.grown for (owner, _), account in list(self._accounts.items()) if owner in owners)

    def called(self) -> List[Any]:
        """Weak references to the Keras models that were called, those from before the watch among them."""
        kinds = tuple(self._seen)
        accounts = list(self._accounts.values())
        return [one.ref for one in accounts if one.calls and isinstance(one.ref(), kinds)]
