"""The metrics' ways out of the process: the program's own registry, a port."""

from __future__ import annotations

import atexit
import math
import os
import socket
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, List, Optional

from . import fork, guard, tfapi
from .errors import ConfigError
from .monitor import Watch
from .outputs import last
from .outputs.prometheus import Collector, Registered, page
from .outputs.series import Family, Readings, taskname
from .outputs.workers import Lock, Slot, Together, folder_of, sweep
from .patch import no_longer, on_import

if TYPE_CHECKING:
    from .outputs.server import Server

_ORPHANS_SECONDS = 600.0  # between two counts of functions without an owner
_MANY_FUNCTIONS = 50  # more or fewer than at the last count make another one worth while
_FRESH_SECONDS = 1.0  # scrapes within this share one reading
_CLIENT = "prometheus_client"


class Export:
    """What a watch knows, exported as its settings wish; nothing of it runs but the port's thread."""

    def __init__(self, watch: Watch, version: str, clock: Callable[[], float] = time.monotonic) -> None:
        config = watch.config
        self._watch = watch
        self._clock = clock
        self._readings = Readings(
            version,
            config.max_labels,
            config.project,
            taskname(os.environ.get("TF_CONFIG", "")),
            watch.process.allocator.name,
        )
        self._collector = Collector(self.families)
        self._registered: Optional[Registered] = None
        self._registering = threading.Lock()
        self._hook: Any = None
        self._server: Optional[Server] = None
        self._folder = folder_of() if config.metrics else ""
        self._slot = Slot(self._folder, config.max_labels) if self._folder else None
        self._turn: Optional[Lock] = None  # to serve the one port that the workers share
        self._textfile = last.checked_file(config.textfile) if config.textfile else ""
        self._gateway = last.checked_gateway(config.pushgateway) if config.pushgateway else ""
        self._instruments: Any = None
        self._pid = os.getpid()
        self._forget()
        try:
            if config.meter_provider is not None:
                self._instruments = _instruments(self.families, config.meter_provider, version)
            if config.registry is not None and config.metrics and not self._folder:
                self._register_in(config.registry)
            if config.port is not None:
                self._serve(config.port)
        except ConfigError:
            self.stop()
            raise

    def _serve(self, port: int) -> None:
        """Take the port. Of workers that share a folder one has it, and shows what all have; the others wait."""
        from .outputs.server import Server

        config = self._watch.config
        shown: Any = self._collector
        if self._folder:
            shown = Together(self._folder)
            if port:
                turn = Lock(os.path.join(self._folder, "tfmemwatch-port%d.lock" % port))
                if not turn.take():
                    return
                self._turn = turn
        try:
            self._server = Server(
                page(shown), config.address, port, config.token, config.certificate, config.private_key
            )  # fmt: skip
        except ConfigError:
            self._no_turn()
            raise

    def _no_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.give_back()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._latest: List[Family] = []
        self._orphans: Optional[int] = None
        self._functions = 0  # in TensorFlow's runtime, when orphans were counted last
        self._orphans_at = -math.inf
        self._read_at: Optional[float] = None

    def _count_orphans(self) -> None:
        """Now and then, and only where the runtime's functions have changed in number: it is a look at the heap."""
        now = self._clock()
        if now < self._orphans_at or not self._watch.config.evidence:
            return
        count = tfapi.registered_functions()
        if count is None or abs(count - self._functions) < _MANY_FUNCTIONS:
            return
        self._orphans_at, self._functions = now + _ORPHANS_SECONDS, count
        self._orphans = self._watch.living().orphans

    def start(self) -> None:
        """Export from now on; the program's registry gets its metrics when prometheus_client is there."""
        fork.in_child(self._in_child)
        if self._textfile or self._gateway:
            atexit.register(self._end)
        if self._slot is not None:
            try:
                self._looked()
            except OSError as error:
                raise ConfigError("PROMETHEUS_MULTIPROC_DIR is %r; %s" % (self._folder, error)) from None
        self._watch.after_look.append(self._looked)
        if self._watch.config.metrics and self._registered is None and not self._folder:
            self._hook = weakref.WeakMethod(self._client_imported)
            on_import(_CLIENT, self._hook)
            if _CLIENT in sys.modules:
                self._client_imported()
        if self._server is not None:
            self._server.start()
            guard.logger.info("metrics are served on port %d", self._server.port)

    def _looked(self) -> None:
        """After a look: what is written, not asked for."""
        self._count_orphans()
        if self._slot is None:
            return
        self._slot.write(self.families())
        sweep(self._folder)
        port = self._watch.config.port
        if port and self._server is None:  # who had the port may have ended
            self._serve(port)
            if self._server is not None:
                self._server.start()

    def stop(self) -> None:
        """Take everything back; what was known last is written or pushed, where that is wished."""
        atexit.unregister(self._end)
        self._end()
        if self._instruments is not None:
            self._instruments.undo()
        if self._looked in self._watch.after_look:
            self._watch.after_look.remove(self._looked)
        if self._hook is not None:
            no_longer(self._hook)
        registered, self._registered = self._registered, None
        if registered is not None:
            registered.undo()
        server, self._server = self._server, None
        if server is not None:
            server.stop()
        self._no_turn()
        if self._slot is not None:
            self._slot.leave()

    def _end(self) -> None:
        """The last values of a job; a forked child's are not the job's."""
        textfile, gateway, self._textfile, self._gateway = self._textfile, self._gateway, "", ""
        if not (textfile or gateway) or os.getpid() != self._pid or not self._watch.is_running:
            return
        self._read_at = None
        text, _ = page(self._collector)("")
        for send, where in ((last.write, textfile), (self._push, gateway)):
            try:
                if where:
                    send(where, text)
            except (OSError, ValueError) as error:
                guard.logger.warning("the last metrics could not be sent to %s: %s", where, error)

    def _push(self, gateway: str, text: bytes) -> None:
        grouping = {"job": self._watch.config.job, "instance": socket.gethostname()}
        last.push(gateway, grouping, text)

    @property
    def port(self) -> Optional[int]:
        """Where the metrics are served; None where they are not."""
        return self._server.port if self._server is not None else None

    def families(self) -> List[Family]:
        """What is to be said now. Who comes while a look takes its time gets what was said before."""
        if not self._lock.acquire(timeout=2 * _FRESH_SECONDS):
            return self._latest
        try:
            now = self._clock()
            if self._read_at is None or now - self._read_at >= _FRESH_SECONDS:
                sample = self._watch.sample(_FRESH_SECONDS if self._read_at is None else 0.05)
                if sample is not None:
                    self._latest = self._readings.families(sample._replace(orphan_functions=self._orphans))
                    self._read_at = now
            return self._latest
        finally:
            self._lock.release()

    def _register_in(self, registry: Any) -> None:
        try:
            self._registered = Registered(self._collector, registry)
        except ValueError as error:
            raise ConfigError("registry is %r, and has such metrics already: %s" % (registry, error)) from None

    def _client_imported(self, module: Any = None) -> None:
        """The program uses prometheus_client: its default registry is what its /metrics shows."""
        if not self._registering.acquire(blocking=False):
            return  # who imports holds the import lock, for which the other one may be waiting
        try:
            if self._registered is None and self._watch.is_running:
                self._registered = Registered(self._collector)
        except Exception:
            guard.failed("registering the metrics")
        finally:
            self._registering.release()

    def _in_child(self) -> None:
        """A forked child has no thread that would answer, and the port is its parent's."""
        self._forget()
        server, self._server = self._server, None
        if server is not None:
            server.abandon()
        self._no_turn()
        if self._slot is not None:
            self._slot.forget()


def _instruments(families: Any, provider: Any, version: str) -> Any:
    try:
        from .otel import Instruments

        return Instruments(families, provider, version)
    except ImportError as error:
        raise ConfigError("meter_provider is %r, and needs opentelemetry-api: %s" % (provider, error)) from None
