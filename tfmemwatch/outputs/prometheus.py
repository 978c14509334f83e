"""The metrics in a registry of prometheus_client; a scrape that fails here breaks no other."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterable, List, Tuple

from ..catalog import METRICS
from ..safety import guard
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
        self._collector = collector
        self._registry = registry
        self._by: Dict[str, object] = {}

    def enter(self) -> None:
        """Register it; who comes second changes nothing. No lock: who imports the client may be waited for in here."""
        if self._registry is None:
            from prometheus_client import REGISTRY

            self._registry = REGISTRY
        mine = object()
        try:
            if self._by.setdefault("mark", mine) is mine:
                self._registry.register(self._collector)
        except BaseException:
            if self._by.get("mark") is mine:
                self._by.clear()
            raise

    def undo(self) -> None:
        """Take it out again; who has taken it out before has done no harm."""
        if self._registry is not None:
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
