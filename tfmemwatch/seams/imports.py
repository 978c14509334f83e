"""Hear of it when a module has been imported. What belongs to the process lives here: who waits for which module."""

from __future__ import annotations

import importlib.util
import sys
import threading
from contextlib import suppress
from typing import Any, Callable, Dict, List

from ..safety import guard

_waiting: Dict[str, List[Callable[[], Any]]] = {}  # by module; weak references to who wants to hear of its import
_METHODS = ("exec_module", "load_module")  # of a loader; the second where there is no first


def on_import(name: str, listener: Callable[[], Any]) -> None:
    """Call what a weak reference leads to once a module has been imported; nothing if that has gone by then."""
    if name in sys.modules or sys.meta_path is None:
        return
    _waiting[name] = [*_living(name), listener]
    if not any(finder is _FINDER for finder in sys.meta_path):
        sys.meta_path.insert(0, _FINDER)


def no_longer(listener: Callable[[], Any]) -> None:
    """Take back what `on_import` was asked for; nothing of ours stays in `sys.meta_path` when nobody waits."""
    for name in list(_waiting):
        left = [other for other in _living(name) if other != listener]
        if left:
            _waiting[name] = left
        else:
            _waiting.pop(name, None)
    if not _waiting:
        with suppress(ValueError, AttributeError):  # at the end of the interpreter there is no list any more
            sys.meta_path.remove(_FINDER)


def _living(name: str) -> List[Callable[[], Any]]:
    return [other for other in _waiting.get(name, ()) if other() is not None]


class _Busy(threading.local):
    is_finding = False  # on this thread: the other finders are being asked


class _Finder:
    """Asks all other finders. The loader that they find is the one that the module has; it tells when it is done."""

    def __init__(self) -> None:
        self._busy = _Busy()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the others find; nothing of a module for which nobody waits, nor of one that is loaded again."""
        if name not in _waiting or target is not None or name in sys.modules or self._busy.is_finding:
            return None
        self._busy.is_finding = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._busy.is_finding = False
        loader = getattr(spec, "loader", None)
        if type(loader) is importlib.util.LazyLoader:  # that which it calls when the module is used
            loader = vars(loader).get("loader")
        if loader is not None:
            _tell_once(loader, name)
        return spec


def _tell_once(loader: Any, name: str) -> None:
    """A loader that can't be told so says nothing: then the next look of the watch sees that the module is there."""
    if isinstance(loader, type):  # of all modules that are built in
        return
    method = next((method for method in _METHODS if hasattr(loader, method)), "")
    load = getattr(loader, method, None)
    if load is None or type(load) is _Load:
        return
    try:
        setattr(loader, method, _Load(loader, method, load, name))
    except (AttributeError, TypeError):
        return


class _Load:
    """Stands on a loader until the module is loaded: loads it, and says so."""

    def __init__(self, loader: Any, method: str, load: Callable[..., Any], name: str) -> None:
        self._loader = loader
        self._method = method
        self._load = load
        self._name = name

    def __call__(self, module: Any) -> Any:
        is_it = (module if isinstance(module, str) else getattr(module, "__name__", "")) == self._name
        if not is_it:  # a loader of many modules
            return self._load(module)
        if type(vars(self._loader).get(self._method)) is _Load:
            delattr(self._loader, self._method)
        result = self._load(module)
        _tell(self._name, sys.modules.get(self._name) if isinstance(module, str) else module)
        return result


def _tell(name: str, module: Any) -> None:
    for listener in _waiting.get(name, ()):
        try:
            method = listener()
            if method is not None:
                method(module)
        except Exception:
            guard.failed("import of " + name)


_FINDER = _Finder()
