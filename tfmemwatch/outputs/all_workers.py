"""A collector of what all workers have written."""

from __future__ import annotations

import math
import os
import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Tuple

from ..safety import guard
from .worker_files import COUNTER, MOST_KNOWN, Format, checked, read

_VALUES = re.compile(r"(counter|gauge)(?:_(livesum|livemax|livemin|liveall))?_(tfmemwatch\d+)\.db\Z")


_ADDS: Dict[str, Callable[[float, float], float]] = {"livemax": max, "livemin": min}


class _Row(NamedTuple):
    """One value of one worker."""

    type: str
    mode: str  # how a gauge adds up
    family: str
    name: str
    labels: Tuple[Tuple[str, str], ...]
    help: str
    value: float


class AllWorkers:
    """A collector of what all workers have written."""

    def __init__(self, folder: str) -> None:
        from prometheus_client.core import Metric  # now: who gives up root's rights may not read it later

        self._folder = folder
        self._format = Format()
        self._metric: Any = Metric
        self._known: Dict[Tuple[str, str], Any] = {}

    def describe(self) -> List[Any]:
        """Nothing that could clash: it has a registry of its own."""
        return []

    def collect(self) -> Iterable[Any]:
        """The workers' metrics, each added up as the catalogue says; a file that is none is left out, and counted."""
        kinds: Dict[str, Tuple[str, str]] = {}  # type and help, by family
        added: Dict[str, Dict[Any, float]] = {}
        for name in self._names():
            try:
                rows = self._rows(name)
                if any(kinds.get(row.family, (row.type, ""))[0] != row.type for row in rows):
                    raise ValueError("%s: a metric is a counter and a gauge" % name)
            except FileNotFoundError:  # its worker has just ended
                continue
            except Exception:
                guard.failed("the file of a worker")
                continue
            for row in rows:
                kinds.setdefault(row.family, (row.type, row.help))
                of_one = added.setdefault(row.family, {})
                before = of_one.get((row.name, row.labels))
                if before is None or row.mode == "liveall":
                    of_one[row.name, row.labels] = row.value
                else:
                    add = _ADDS.get(row.mode, float.__add__)
                    of_one[row.name, row.labels] = add(before, row.value)
        return [self._shown(family, *kinds[family], samples) for family, samples in added.items()]

    def _shown(self, family: str, kind: str, text: str, samples: Dict[Any, float]) -> Any:
        metric = self._metric(family, text, kind)
        for (name, labels), value in samples.items():
            metric.add_sample(name, dict(labels), value)
        return metric

    def _names(self) -> List[str]:
        try:
            return sorted(os.listdir(self._folder))
        except OSError:  # it has gone, or this user may no longer read it
            guard.failed("the folder of the workers")
            return []

    def _rows(self, file: str) -> List[_Row]:
        """All that one file says; ValueError or OSError where it is no file of values."""
        found = _VALUES.match(file)
        if found is None:
            return []
        kind, mode, worker = found.groups()
        rows = []
        for key, value in self._format.rows(read(os.path.join(self._folder, file))):
            words = self._known.get((kind, key))
            if words is None:
                words = checked(key, kind)
                if len(self._known) >= MOST_KNOWN:
                    self._known.clear()
                self._known[kind, key] = words
            family, name, labels, text = words
            if kind == COUNTER and not 0.0 <= value < math.inf:
                raise ValueError("%s counts %r" % (name, value))
            named = (*labels, ("pid", worker)) if mode == "liveall" else labels
            rows.append(_Row(kind, mode or "", family, name, named, text, value))
        return rows
