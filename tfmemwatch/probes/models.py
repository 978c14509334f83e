"""Models: made where, compiled where, called how often, and what each call left in memory."""
from __future__ import annotations

import threading
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .. import guard, tfapi
from ..patch import Patch
from .scene import Probe, Scene, noted

WHOLE_CALLS = ("predict", "fit", "evaluate", "train_on_batch", "test_on_batch", "predict_on_batch")
_EVERY = 32  # of the short calls, how many share one reading of memory: a reading costs as much as the hook


class Calls(NamedTuple):
    """How a model has been called."""

    model: str
    method: str
    calls: int
    measured: int  # calls whose memory was read before and after, and that nothing overlapped
    grown_bytes: int  # what resident memory gained over the measured ones


class _Account:
    """The running count for one model and one method."""

    __slots__ = ("calls", "grown", "measured", "method", "name", "ref")

    def __init__(self, model: Any, method: str, forget: Callable[[Any], Any]) -> None:
        self.ref = weakref.ref(model, forget)
        self.name = "%s %s" % (type(model).__name__, getattr(model, "name", "") or "")
        self.method = method
        self.calls = self.measured = self.grown = 0


class Models(Probe):
    """Sees models being made and compiled, and every way in which they are called; the outermost call counts."""

    name = "models"
    watches = "live models by line, compile() by line, calls of each model and the memory each left"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._seen: List[Any] = []
        self.start_afresh()

    def start_afresh(self) -> None:
        self._local = threading.local()
        self._accounts: Dict[Tuple[int, str], _Account] = {}
        self._under_way = 0  # calls in all threads; only used to set overlapping measurements aside
        self._entered = 0

    def install(self) -> None:
        self._eagerly = tfapi.find("executing_eagerly").value
        self.install_keras()
        if tfapi.has("concrete_call"):
            self.wrap("concrete_call", self._signature)

    def install_keras(self) -> None:
        for keras in tfapi.kerases():
            if any(keras.model is model for model in self._seen):
                continue
            self._seen.append(keras.model)
            self._wrap_model(keras.model)
            for optimizer in keras.optimizers:
                self.patches.append(Patch(optimizer, "__init__", noted(self._optimizer, "models: optimizer")))

    def uninstall(self) -> None:
        super().uninstall()
        self._seen = []

    def _wrap_model(self, model: Any) -> None:
        self.patches.append(Patch(model, "__init__", self._made))
        self.patches.append(Patch(model, "compile", noted(self._compiled, "models: compile")))
        self.patches.append(Patch(model, "__call__", self._call))
        for method in WHOLE_CALLS:
            if hasattr(model, method):
                self.patches.append(Patch(model, method, self._whole(method)))

    def _made(self, wrapped: Callable[..., Any], model: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        """Before the constructor: what it makes comes after the model in every account."""
        try:
            self.scene.born("model", model)
        except Exception:
            guard.failed("models: made")
        return wrapped(*args, **kwargs)

    def _compiled(self, result: Any, model: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self.scene.happened("compile")

    def _optimizer(self, result: Any, optimizer: Any, args: tuple, kwargs: Dict[str, Any]) -> None:
        self.scene.born("optimizer", optimizer)

    def _account(self, model: Any, method: str) -> _Account:
        key = (id(model), method)
        account = self._accounts.get(key)
        if account is None:
            forget = self._accounts.pop
            account = self._accounts[key] = _Account(model, method, lambda ref: forget(key, None))
        return account

    def _call(self, wrapped: Callable[..., Any], model: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        """The hot one: counts each call, and reads memory around one in `_EVERY`."""
        local = self._local
        if getattr(local, "depth", 0) or not self.scene.rank:
            return wrapped(*args, **kwargs)
        local.depth = 1
        try:
            account = self._accounts.get((id(model), "__call__"))
            if account is None or not account.calls % _EVERY:
                return self._measured(wrapped, model, "__call__", args, kwargs)
            account.calls += 1
            return wrapped(*args, **kwargs)
        finally:
            local.depth = 0

    def _whole(self, method: str) -> Callable[..., Any]:
        def whole(wrapped: Callable[..., Any], model: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
            local = self._local
            if getattr(local, "depth", 0) or not self.scene.rank:
                return wrapped(*args, **kwargs)
            local.depth = 1
            try:
                return self._measured(wrapped, model, method, args, kwargs)
            finally:
                local.depth = 0

        return whole

    def _measured(
        self, wrapped: Callable[..., Any], model: Any, method: str, args: tuple, kwargs: Dict[str, Any]
    ) -> Any:
        begin = self._begin(model, method)
        try:
            return wrapped(*args, **kwargs)
        finally:
            self._under_way -= 1
            if begin is not None:
                self._end(*begin)

    def _begin(self, model: Any, method: str) -> Optional[Tuple[_Account, Optional[int], int]]:
        self._entered += 1
        self._under_way += 1
        try:
            if method == "__call__" and not self._eagerly():
                method = "__call__ (traced)"
            account = self._account(model, method)
            account.calls += 1
            alone = self._under_way == 1
            return account, self.scene.process.resident_bytes() if alone else None, self._entered
        except Exception:
            guard.failed("models: call")
            return None

    def _end(self, account: _Account, resident: Optional[int], entered: int) -> None:
        """A call that another one overlapped is counted, but its memory is nobody's."""
        try:
            after = self.scene.process.resident_bytes()
            if resident is None or after is None or entered != self._entered or self._under_way:
                return
            account.measured += 1
            account.grown += after - resident
        except Exception:
            guard.failed("models: call")

    def _signature(self, wrapped: Callable[..., Any], function: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        """A signature of a SavedModel called as a function is a model call too."""
        if not self.scene.rank or not self._eagerly():
            return wrapped(*args, **kwargs)
        return self._whole("signature")(wrapped, function, args, kwargs)

    def calls(self) -> List[Calls]:
        """Every model that is alive, and how it has been called."""
        accounts = list(self._accounts.values())
        return [Calls(a.name.strip(), a.method, a.calls, a.measured, a.grown) for a in accounts]
