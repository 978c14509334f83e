"""Models: made where, compiled where, called how often, and what each call left in memory."""

from __future__ import annotations

import sys
import threading
from functools import partial
from threading import get_ident
from time import thread_time
from types import FrameType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ..growth.per_call import GrowthPerCall
from ..model import Site
from ..reports import Calls
from ..safety import guard
from ..safety.tracebacks import without_us
from ..seams import places
from ..seams.keras import kerases
from ..seams.patch import Patch, where_defined
from .model_calls import Account, ModelCalls
from .scene import Probe, Scene, quickly

WHOLE_CALLS = ("predict", "fit", "evaluate", "train_on_batch", "test_on_batch", "predict_on_batch")
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
        self._calls = ModelCalls(scene)
        self._hot = self._calls.hot
        self.start_afresh()

    def turned_off(self) -> None:
        self._hot.clear()

    def start_afresh(self) -> None:
        self._calls.start_afresh()
        self._local.depth = 0

    def install(self) -> None:
        self._eagerly = places.find("executing_eagerly").value
        self._eager_tensor = places.find("eager_tensor").value
        self.install_keras()
        if places.has("saved_model_load"):
            self.after("saved_model_load", self._loaded)
        if places.has("concrete_call"):
            self.wrap("concrete_call", self._call)  # a signature of a SavedModel called as a function is a model call

    def install_keras(self) -> None:
        for keras in kerases():
            if any(keras.model is model for model in self._seen):
                continue
            self._seen.append(keras.model)
            self._symbolic.update(keras.symbolic)
            self._wrap_model(keras.model)
            for optimizer in keras.optimizers:
                made = quickly(self._optimizer, "models: optimizer", self.scene)
                Patch(optimizer, "__init__", made, self.patches)

    def uninstall(self) -> None:
        super().uninstall()
        self._seen = []
        self.turned_off()

    def _wrap_model(self, model: Any) -> None:
        Patch(model, "__init__", self._made, self.patches)
        Patch(model, "__call__", self._call, self.patches)  # of models alone, though layers define it
        compiled = quickly(self._compiled, "models: compile", self.scene)
        Patch(where_defined(model, "compile"), "compile", compiled, self.patches)
        for method in WHOLE_CALLS:
            if hasattr(model, method):
                Patch(where_defined(model, method), method, partial(self._outermost_if, method=method), self.patches)

    def _made(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        """Before the constructor: what it makes comes after the model in every account."""

        def made(*args: Any, **kwargs: Any) -> None:
            if patch.is_live and self.scene.rank:
                began = thread_time()
                try:
                    if not _is_inside(sys._getframe(1), args[0]):
                        self.scene.born("model", args[0], makes=True)
                    guard.spent["models"] += thread_time() - began
                except Exception:
                    guard.failed("models: made")
            try:
                original(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise

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

    def _call(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        """The hot one. All that is read here has to be fetched from afar: a model call flushes the caches."""
        hot, eager_tensor = self._hot, self._eager_tensor
        outermost = self._outermost_if(original, patch, "__call__")

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                account = hot.get(id(args[0])) if args else None
                if account is None or account.calls >= account.read_at or type(args[-1]) is not eager_tensor:
                    return outermost(*args, **kwargs)
                account.calls += 1
                return original(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise

        return call

    def _outermost_if(self, original: Callable[..., Any], patch: Patch, method: str) -> Callable[..., Any]:
        """A call, counted unless it is within another one, or nobody watches."""
        local, scene = self._local, self.scene

        def counted(*args: Any, **kwargs: Any) -> Any:
            try:
                if not args or not patch.is_live or not scene.rank:
                    return original(*args, **kwargs)
                if local.depth:
                    if local.depth == _LOOKING:
                        self._contained(args[0])
                    return original(*args, **kwargs)
                return self._outermost(original, method, args, kwargs, patch)
            except BaseException as error:
                without_us(error)
                raise

        counted.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph may rewrite the seam, but not this
        return counted

    def _outermost(
        self, original: Callable[..., Any], method: str, args: Any, kwargs: Dict[str, Any], patch: Patch
    ) -> Any:
        local, under_way, me = self._local, self._calls.under_way, get_ident()
        account = None
        try:
            try:
                local.depth = 1
                local.is_composed = False
                under_way[me] = True
                account = self._begin(args, method)
                return original(*args, **kwargs)
            finally:
                local.depth = 0
                under_way.pop(me, None)
        finally:  # once more: an interrupt may come within the first
            local.depth = 0
            under_way.pop(me, None)
            if account is not None:
                self._heat(account, patch)

    def _heat(self, account: Account, patch: Patch) -> None:
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
                self._calls.account(model, "__call__").is_single = False
        except Exception:
            guard.failed("models: inside")

    def _begin(self, args: Any, method: str) -> Optional[Account]:
        try:
            is_short = method == "__call__"
            if is_short and not self._eagerly():
                method = "__call__ (traced)"
            elif is_short and type(args[-1]) in self._symbolic:
                method = "__call__ (symbolic)"
            account = self._calls.account(args[0], method)
            if account.calls >= account.read_at:
                self._hot.clear()  # so that models within this one are seen
                self._local.depth = _LOOKING
                self._calls.read(account, is_short)
            account.calls += 1
        except Exception:
            guard.failed("models: call")
            return None
        return account

    def read(self) -> None:
        """Whether calls leave memory behind is judged where the watch looks, and not in the calls."""
        self._calls.judge()

    def call_growth(self) -> List[Tuple[Site, str, GrowthPerCall]]:
        return self._calls.growth()

    def calls(self) -> List[Calls]:
        return self._calls.all()

    def grown_by_calls(self, model: Any) -> int:
        return self._calls.grown_by(model)

    def called_models(self) -> List[Any]:
        return self._calls.called(tuple(self._seen))
