"""The same metrics as observable instruments of OpenTelemetry, on the program's own MeterProvider.

    tfmemwatch.install(meter_provider=provider)

Needs `opentelemetry-api`, of which this uses nothing but what the provider hands out.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, List

from ..catalog import METRICS, Metric
from ..safety import guard
from .series import Family


class Instruments:
    """One instrument for each row of the catalogue; they can't be taken back, but they fall silent."""

    def __init__(self, families: Callable[[], List[Family]], provider: Any, version: str) -> None:
        from opentelemetry.metrics import Observation

        self._families = families
        self._observation: Any = Observation
        self._is_on = True
        try:
            meter = provider.get_meter("tfmemwatch", version)
            for metric in METRICS:
                make = meter.create_observable_counter if metric.type == "counter" else meter.create_observable_gauge
                unit = _UNITS.get(metric.unit, "1")
                make(_name(metric), [self._observer(metric)], unit=unit, description=metric.help)
        except BaseException:
            self._is_on = False  # those that were made are silent
            raise

    def undo(self) -> None:
        """Observe nothing any more."""
        self._is_on = False

    def _observer(self, metric: Metric) -> Callable[[Any], Iterable[Any]]:
        def observe(options: Any) -> Iterable[Any]:
            if not self._is_on:
                return []
            try:
                return [
                    self._observation(value, dict(zip(metric.labels, labels)))
                    for family in self._families()
                    if family.metric is metric
                    for labels, value in family.samples
                ]
            except Exception:
                guard.failed("OpenTelemetry")
                return []

        return observe


_UNITS = {"bytes": "By", "seconds": "s"}


def _name(metric: Metric) -> str:
    """`tfmemwatch.retraces`: units and kinds are told apart from the name here."""
    name = metric.name[len("tfmemwatch_") :]
    return "tfmemwatch." + (name[: -len("_total")] if name.endswith("_total") else name)
