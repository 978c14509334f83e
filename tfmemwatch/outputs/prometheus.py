"""The metrics in a registry of prometheus_client; a scrape that fails here breaks no other."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterable, List, Tuple

from .. import guard
from ..catalog import METRICS
from .series import Family


class Collector:
    """A custom collector: costs nothing until it is scraped."""

    def __init__(self, families: Callable[[], List[Family]]) -> None:
        self._families = families

    def describe(self) -> List[Any]:
        """Every name that may come: so a registry knows, without a scrape, what would clash."""
        return [_exposed(Family(metric, [])) for metric in METRICS]

    def collect(self) -> Iterable[Any]:
        """All metrics that have a sample now; none where we fail."""
        try:
            return [_exposed(family) for family in self._families() if family.samples]
        except Exception:
            guard.failed("metrics")
            return []


def _exposed(family: Family) -> Any:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kind = CounterMetricFamily if family.metric.type == "counter" else GaugeMetricFamily
    exposed = kind(family.metric.name, family.metric.help, labels=family.metric.labels, unit=family.metric.unit)
    for labels, value in family.samples:
        exposed.add_metric(labels, value)
    return exposed


class Registered:
    """A collector in somebody's registry, for as long as it is wanted."""

    def __init__(self, collector: Collector, registry: Any = None) -> None:
        if registry is None:
            from prometheus_client import REGISTRY as registry
        self._collector = collector
        self._registry = registry
        registry.register(collector)

    def undo(self) -> None:
        """Take it out again; who has taken it out before has done no harm."""
        with contextlib.suppress(KeyError):
            self._registry.unregister(self._collector)


def page(collector: Any) -> Callable[[str], Tuple[bytes, str]]:
    """The text of a scrape, and its content type, in the format that is asked for."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import choose_encoder

    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)

    def written(accept: str) -> Tuple[bytes, str]:
        encoder, content_type = choose_encoder(accept)
        return encoder(registry), content_type

    return written
