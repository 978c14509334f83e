"""The metrics' ways out of the process: the program's own registry, a port, files, instruments of OpenTelemetry."""

from __future__ import annotations

import time
from typing import Any, Callable, List, Optional

from ..errors import ConfigError
from ..outputs.prometheus import Collector
from ..outputs.workers import Slot, folder_of, sweep
from ..safety import forks, guard
from .exported_values import ExportedValues
from .job_end import JobEnd
from .program_registry import ProgramRegistry
from .recorder import Recorder
from .served_port import ServedPort
from .watch import Watch

Step = Callable[[], None]


class Export:
    """What a watch knows, exported as its settings wish; nothing of it runs but the port's thread."""

    # Of one that was interrupted while it was made, and is stopped all the same.
    _watch: Any = None
    _registry: Optional[ProgramRegistry] = None
    _port: Optional[ServedPort] = None
    _slot: Optional[Slot] = None
    _job_end: Optional[JobEnd] = None
    recorder: Optional[Recorder] = None
    _instruments: Any = None
    _is_over = False

    def __init__(self, watch: Watch, version: str, clock: Callable[[], float] = time.monotonic) -> None:
        config = watch.config
        self._watch = watch
        self.values = ExportedValues(watch, version, clock)
        collector = Collector(self.values.families)
        self._fails = ""  # why the worker's values can't be written now
        self._folder = folder_of() if config.metrics else ""
        self._slot = Slot(self._folder, config.max_labels) if self._folder else None
        self._job_end = JobEnd(watch, self.values, collector)
        self._registry = ProgramRegistry(watch, collector, self._has_ended)
        self._port = ServedPort(config, collector, self._folder, self._has_ended, watch.answers)
        try:
            if config.meter_provider is not None:
                self._instruments = _instruments(self.values.families, config.meter_provider, version)
            if config.registry is not None and config.metrics and not self._folder:
                self._registry.enter(config.registry)
            if config.port is not None:
                self._port.take(config.port)
            if config.record:
                self.recorder = Recorder(watch, config.record)
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Export from now on; the program's registry gets its metrics when prometheus_client is there."""
        forks.in_child(self._in_child)
        if self._job_end is not None:
            self._job_end.wait()
        try:
            self._write()
        except OSError as error:
            raise ConfigError("PROMETHEUS_MULTIPROC_DIR is %r; %s" % (self._folder, error)) from None
        self._watch.after_look.append(self._looked)
        if self._registry is not None and self._watch.config.metrics and not self._folder:
            self._registry.enter_default()
        if self.recorder is not None:
            self.recorder.start()
        number = self._port.start() if self._port is not None else None
        if number is not None:
            guard.logger.info("metrics are served on port %d", number)

    def _looked(self) -> None:
        """After a look: what is written, not asked for."""
        self.values.count_orphans()
        if self._slot is None or self._is_over:
            return
        fails = []
        for step in (self._write, self._serve_if_free):
            try:
                step()
            except (OSError, ConfigError) as error:  # a full disk, say
                fails.append(str(error))
        self._say("; ".join(fails))

    def _serve_if_free(self) -> None:
        if self._port is not None:
            self._port.take_if_free()

    def _write(self) -> None:
        if self._slot is not None:
            self._slot.write(self.values.families())
            sweep(self._folder)

    def _say(self, fails: str) -> None:
        """Once, when the metrics do not get out, and once when they do again."""
        before, self._fails = self._fails, fails
        if fails and not before:
            guard.logger.warning("the metrics of this process can't be exported now; the last values stay: %s", fails)
        elif before and not fails:
            guard.logger.info("the metrics of this process are exported again")

    def stop(self) -> None:
        """Take everything back; what was known last is written or pushed, where that is wished."""
        through("end of the exports", *self._steps())

    def _steps(self) -> List[Step]:
        """Each way out has its end, in this order; of what was not made there is nothing to end."""
        job_end, registry, port = self._job_end, self._registry, self._port
        steps: List[Step] = []
        if job_end is not None:
            steps += [job_end.not_at_exit, job_end.leave]
        if self.recorder is not None:
            steps.append(self.recorder.stop)
        steps += [self._over, self._silence, self._no_listening]
        if registry is not None:
            steps += [registry.no_hook, registry.leave]
        if port is not None:
            steps += [port.no_server, port.no_turn]
        return [*steps, self._no_slot]

    def _over(self) -> None:
        """Who takes the port or enters the registry at this moment takes it back."""
        self._is_over = True

    def _has_ended(self) -> bool:
        return self._is_over

    def _silence(self) -> None:
        if self._instruments is not None:
            self._instruments.undo()

    def _no_listening(self) -> None:
        if self._watch is not None and self._looked in self._watch.after_look:
            self._watch.after_look.remove(self._looked)

    def _no_slot(self) -> None:
        if self._slot is not None:
            self._slot.leave()

    @property
    def port(self) -> Optional[int]:
        """Where the metrics are served; None where they are not."""
        return self._port.number if self._port is not None else None

    def _in_child(self) -> None:
        """A forked child has its own values, and its parent's port is not its own."""
        self.values.start_afresh()
        if self._port is not None:
            self._port.abandon()
        if self._slot is not None:
            self._slot.forget()
        if self.recorder is not None:
            self.recorder.in_child()


def _instruments(families: Any, provider: Any, version: str) -> Any:
    try:
        from ..outputs.otel import Instruments

        return Instruments(families, provider, version)
    except ImportError as error:
        raise ConfigError("meter_provider is %r, which needs opentelemetry-api: %s" % (provider, error)) from None


def through(what: str, *steps: Step) -> None:
    """Take each step, whatever another one raises; an interrupt is passed on after the last.

    A step is done when it has returned: one that was interrupted, perhaps before it could begin, is taken once more.
    """
    left = list(steps)
    interrupts: List[BaseException] = []
    is_second = False
    while left:
        try:
            while left:
                _contained(what, left[0])
                del left[0]
                is_second = False
        except BaseException as error:
            interrupts.append(error)
            if is_second:
                del left[0]
            is_second = not is_second
    if interrupts:
        raise interrupts[0]


def _contained(what: str, step: Step) -> None:
    try:
        step()
    except Exception:
        guard.failed(what)
