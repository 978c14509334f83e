"""The program's own registry of prometheus_client: it shows our metrics among its own."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Callable, Optional

from ..errors import ConfigError
from ..outputs.prometheus import Collector, Registered
from ..safety import guard
from ..seams.imports import no_longer, on_import
from .watch import Watch

_CLIENT = "prometheus_client"


class ProgramRegistry:
    """Enters the registry that was given, or the default one once the program has imported the client."""

    def __init__(self, watch: Watch, collector: Collector, is_over: Callable[[], bool]) -> None:
        self._watch = watch
        self._collector = collector
        self._registered: Optional[Registered] = None
        self._hook: Any = None
        self._is_over = is_over  # whether the export was stopped

    def enter(self, registry: Any) -> None:
        """This one; a ConfigError where it has such metrics already."""
        self._registered = Registered(self._collector, registry)
        try:
            self._registered.enter()
        except ValueError as error:
            raise ConfigError("registry is %r, which has such metrics already: %s" % (registry, error)) from None

    def enter_default(self) -> None:
        """The default one, now or when prometheus_client is imported; nothing where another one was given."""
        if self._registered is None:
            self._hook = weakref.WeakMethod(self._client_imported)
            on_import(_CLIENT, self._hook)
            if _CLIENT in sys.modules:
                self._client_imported()

    def _client_imported(self, module: Any = None) -> None:
        """The program uses prometheus_client: its default registry is what its /metrics shows."""
        try:
            if self._registered is None:
                self._registered = Registered(self._collector)
            if self._watch.is_running and not self._is_over():
                self._registered.enter()
            if self._is_over():  # stopped meanwhile, by another thread
                self._registered.undo()
        except Exception:
            guard.failed("registering the metrics")

    def no_hook(self) -> None:
        """Hear of imports no longer."""
        if self._hook is not None:
            no_longer(self._hook)

    def leave(self) -> None:
        """Take the metrics out of it."""
        if self._registered is not None:
            self._registered.undo()
