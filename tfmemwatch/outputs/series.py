"""A sample as series: named by the catalogue, their labels bounded, and nothing in them of the user's data."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ..catalog import GAUGES, METRICS, Gauge, Metric
from ..config import LEVELS
from ..explain.advice import TABLE
from ..headline import WORDS
from ..model import OTHER, UNKNOWN, Finding, Site, Tally
from ..reports import Sample

Labels = Tuple[str, ...]
OTHER_LABEL = "other"
_LONGEST = 200  # characters of a name in a label
_LONGEST_TEXT = 400  # of a sentence
_MOST_SUSPECTS = 20
_MOST_GAUGES = 64  # owners, limits or devices
_MOST_NAMES = 20000  # sites whose label is remembered


class Family(NamedTuple):
    """All that is exported under one name."""

    metric: Metric
    samples: List[Tuple[Labels, float]]


def plain(text: str, longest: int = _LONGEST) -> str:
    """A name that came from a program, fit for a label: valid Unicode, on one line, not too long."""
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


class Names:
    """Lines of the program as labels. A path shows only what lies within the project, or the name of the file."""

    def __init__(self, folder: str = "") -> None:
        here = os.path.realpath(folder or os.getcwd())
        self._folder = "" if here == os.sep else here + os.sep
        self._known: Dict[Site, str] = {}

    def __call__(self, site: Site) -> str:
        """`app/train.py:41 step()`."""
        known = self._known.get(site)
        if known is None:
            known = plain(self._name(site))
            if len(self._known) < _MOST_NAMES:
                self._known[site] = known
        return known

    def _name(self, site: Site) -> str:
        if site == OTHER:
            return OTHER_LABEL
        if site == UNKNOWN:
            return "unknown"
        return site._replace(file="").short.replace(":", self._file(site.file) + ":", 1) if site.line else site.function

    def _file(self, file: str) -> str:
        path = file.replace("\\", "/")
        for mark in ("/site-packages/", "/dist-packages/"):
            if mark in path:
                return path.rsplit(mark, 1)[1]
        real = os.path.realpath(file) if os.path.isabs(file) else file
        if self._folder and real.startswith(self._folder):
            return real[len(self._folder) :].replace("\\", "/")
        return path.rsplit("/", 1)[-1]


class _Folded:
    """The label sets of one metric that are shown by name: the suspects, then what grows most; the rest is `other`.

    A counter may not fall. So what a series was before it got its name stays in `other`, and one that loses its name
    goes on in `other` from there.
    """

    def __init__(self, metric: Metric, most: int) -> None:
        self._is_counter = metric.type == "counter"
        self._most = most
        self._before: Dict[Labels, float] = {}
        self._growth: Dict[Labels, float] = {}
        self._shown: Dict[Labels, float] = {}
        self._rest = 0.0
        self.folded = 0

    def fold(self, values: Mapping[Labels, float], other: Labels, suspects: Set[str]) -> List[Tuple[Labels, float]]:
        """The samples to show for these values."""
        values = {labels: value for labels, value in values.items() if value or self._is_counter}
        more = {labels: value - self._before.get(labels, 0.0) for labels, value in values.items()}
        for labels in [labels for labels in self._shown if labels not in values]:
            if self._is_counter:
                continue  # counted by something that has died: what it had counted stays
            del self._shown[labels]
        self._rank(values, more, other, suspects)
        if self._is_counter:
            self._count(more, other)
        else:
            self._rest = sum(value for labels, value in values.items() if labels not in self._shown)
            self._shown = {labels: values[labels] for labels in self._shown}
        self._before = dict(values)
        self.folded = sum(1 for labels in values if labels not in self._shown and labels != other)
        return [*self._shown.items(), (other, self._rest)]

    def _rank(
        self, values: Mapping[Labels, float], more: Mapping[Labels, float], other: Labels, suspects: Set[str]
    ) -> None:
        """Choose who is shown. One that has its name keeps it, until another grows twice as fast."""
        if len(values) <= self._most:
            for labels in values:
                if labels != other:
                    self._shown.setdefault(labels, 0.0)
            if len(self._shown) <= self._most:
                self._growth = {}
                return
        growth = {labels: 0.9 * self._growth.get(labels, 0.0) + max(0.0, grown) for labels, grown in more.items()}
        self._growth = growth

        def weight(labels: Labels) -> Tuple[bool, float, float]:
            twice = 2.0 if labels in self._shown else 1.0
            return (labels[-1] in suspects, twice * growth.get(labels, 0.0), twice * values.get(labels, 0.0))

        candidates = {labels for labels in values if labels != other} | set(self._shown)
        best = sorted(candidates, key=weight, reverse=True)[: self._most]
        self._shown = {labels: self._shown.get(labels, 0.0) for labels in best}

    def _count(self, more: Mapping[Labels, float], other: Labels) -> None:
        for labels, grown in more.items():
            if grown <= 0:
                continue
            if labels in self._shown:
                self._shown[labels] += grown
            else:
                self._rest += grown


Reader = Callable[["Readings", Sample], Iterable[Tuple[Labels, float]]]


class Readings:
    """Turns samples into families; remembers only what keeps counters from falling, and labels in their bound."""

    def __init__(
        self, version: str, most: int, folder: str = "", task: Optional[Tuple[str, str]] = None, allocator: str = ""
    ) -> None:
        self._names = Names(folder)
        self._tables = {
            metric.name: _Folded(metric, most) for metric in METRICS if metric.kinds or metric.name in _FOLDED
        }
        self._version = version
        self._task: Optional[Labels] = task
        self._allocator = allocator
        self._open: Set[Tuple[str, Site]] = set()
        self._told: Dict[Labels, Labels] = {}  # cause and cure of each suspect
        self._found: Dict[str, int] = dict.fromkeys(_FINDING_KINDS, 0)

    def families(self, sample: Sample) -> List[Family]:
        """Every metric of the catalogue that has something to say."""
        self._note_findings(sample)
        suspects = {self._names(finding.site) for finding in sample.findings}
        by_kind: Dict[str, List[Tally]] = {}
        for key, tally in sample.tallies.items():
            by_kind.setdefault(key.kind, []).append(tally)
        families = []
        for metric in METRICS:
            if metric.kinds:
                rows: Iterable[Tuple[Labels, float]] = self._counted(metric, by_kind)
            else:
                rows = READERS[metric.name](self, sample)
            table = self._tables.get(metric.name)
            if table is None:
                families.append(Family(metric, list(rows)))
                continue
            values: Dict[Labels, float] = {}
            for labels, value in rows:  # two lines may have one name
                values[labels] = values.get(labels, 0.0) + value
            families.append(Family(metric, table.fold(values, (OTHER_LABEL,) * len(metric.labels), suspects)))
        return families

    def _counted(self, metric: Metric, by_kind: Mapping[str, List[Tally]]) -> Iterable[Tuple[Labels, float]]:
        is_named = metric.labels[0] == "function"
        for kind in metric.kinds:
            for tally in by_kind.get(kind, ()):
                site = self._names(tally.key.site)
                labels: Labels = (plain(tally.note) or site, site) if is_named else (site,)
                if tally.key.site == OTHER:
                    labels = (OTHER_LABEL,) * len(metric.labels)
                yield labels, float(getattr(tally, metric.field))

    def _note_findings(self, sample: Sample) -> None:
        now = {finding.story for finding in sample.findings}
        for kind, _ in now - self._open:
            self._found[kind] = self._found.get(kind, 0) + 1
        self._open = now

    # -- what is not a count of the ledger, by metric

    def _oldest_session(self, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        oldest: Dict[Labels, float] = {}
        for site, seconds in sample.session_ages:
            labels = (self._names(site),)
            oldest[labels] = max(seconds, oldest.get(labels, 0.0))
        return sorted(oldest.items(), key=lambda row: -row[1])[:_MOST_SUSPECTS]

    def _causes(self, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        for one in sample.causes:
            labels = (plain(one.function), plain(one.argument), plain(one.cause), self._names(one.site))
            yield labels, float(one.times)

    def _calls(self, sample: Sample, field: str) -> Iterable[Tuple[Labels, float]]:
        for calls in sample.calls:
            yield (plain(calls.model), calls.method), float(getattr(calls, field))

    def _models(self, rows: Sequence[Any], field: str) -> Iterable[Tuple[Labels, float]]:
        for row in rows:
            yield (plain(row.model),), float(getattr(row, field))

    def _findings(self, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        kinds = dict.fromkeys(_FINDING_KINDS, 0)
        for finding in sample.findings:
            kinds[finding.kind] = kinds.get(finding.kind, 0) + 1
        return [((kind,), float(count)) for kind, count in kinds.items()]

    def _suspects(self, findings: Sequence[Finding], field: str) -> Iterable[Tuple[Labels, float]]:
        found: Dict[Labels, float] = {}
        for finding in findings[:_MOST_SUSPECTS]:
            labels = (finding.kind, self._names(finding.site))
            found[labels] = found.get(labels, 0.0) + float(getattr(finding, field))
        return found.items()

    def _suspect_info(self, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        found: Dict[Labels, Labels] = {}
        for finding in sample.findings[:_MOST_SUSPECTS]:
            names = (finding.kind, self._names(finding.site))
            if names not in found:
                now, before = told(finding), self._told.get(names, ("", ""))
                found[names] = now if _without_numbers(now) != _without_numbers(before) else before
        self._told = found
        return [(names + texts, 1.0) for names, texts in found.items()]

    def _build(self, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        versions = sample.versions
        keras = versions.get("keras") or versions.get("tf_keras") or ""
        python = "%d.%d.%d" % sys.version_info[:3]
        return [((self._version, versions.get("tensorflow", ""), keras, python, self._allocator), 1.0)]

    def _folded(self, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        return [((name,), float(table.folded)) for name, table in self._tables.items() if table.folded]


def told(finding: Finding) -> Labels:
    """Cause and cure of a leak as labels have them: what the log says, but nothing that may be the user's data.

    No numbers that each worker has of its own, either: the same leak in all of them is one series.
    """
    cause, cure = finding.cause, finding.cure
    if finding.differs:
        cause += ": " + finding.differs
    if finding.holder:
        cause += "; held by " + re.sub(r", [\d,]+ items?\)", ")", finding.holder.split(" → ")[0])
    if finding.short and not re.search("[\"']", finding.short):  # keys of what it was given are not the program's text
        cure = re.sub(r" \((the first )?[\d,]+ \w+ become [\d,]+\)$", "", finding.short) + "."
    return plain(cause, _LONGEST_TEXT), plain(cure, _LONGEST_TEXT)


def _without_numbers(texts: Labels) -> Labels:
    """What must differ for a label to change: each change is a new series, and for an alert a new trouble."""
    return tuple(re.sub(r"[\d.,]+", "#", text) for text in texts)


def _one(value: Optional[float]) -> Iterable[Tuple[Labels, float]]:
    return [] if value is None else [((), float(value))]


_FINDING_KINDS = tuple(sorted({advice.kind for advice in TABLE.values()}))
_FOLDED = frozenset((
    "tfmemwatch_retrace_causes_total", "tfmemwatch_model_calls_total", "tfmemwatch_model_grown_bytes",
    "tfmemwatch_model_weight_bytes", "tfmemwatch_model_variables", "tfmemwatch_unloaded_variables",
))  # fmt: skip


def _gauge(row: Gauge) -> Reader:
    def read(self: Readings, sample: Sample) -> Iterable[Tuple[Labels, float]]:
        values = sample.gauges.get(row.metric, {})
        return [((plain(name),) if row.label else (), float(value)) for name, value in values.items()][:_MOST_GAUGES]

    return read


def _suspects(of: str, field: str) -> Reader:
    return lambda self, sample: self._suspects(getattr(sample, of), field)


READERS: Dict[str, Reader] = {
    **{row.metric: _gauge(row) for row in GAUGES},
    "tfmemwatch_run_graph_operations": lambda self, sample: _one(sample.operations),
    "tfmemwatch_registered_functions": lambda self, sample: _one(sample.registered_functions),
    "tfmemwatch_retrace_causes_total": Readings._causes,
    "tfmemwatch_oldest_session_seconds": Readings._oldest_session,
    "tfmemwatch_model_calls_total": lambda self, sample: self._calls(sample, "calls"),
    "tfmemwatch_model_grown_bytes": lambda self, sample: self._calls(sample, "grown_bytes"),
    "tfmemwatch_model_weight_bytes": lambda self, sample: self._models(sample.models, "weight_bytes"),
    "tfmemwatch_model_variables": lambda self, sample: self._models(sample.models, "variables"),
    "tfmemwatch_unloaded_variables": lambda self, sample: self._models(sample.left_of_models, "alive"),
    "tfmemwatch_orphan_functions": lambda self, sample: _one(sample.orphan_functions),
    "tfmemwatch_headline": lambda self, sample: [
        ((word.lower(),), float(word == sample.headline.word)) for word in WORDS
    ],
    "tfmemwatch_python_blocks": lambda self, sample: _one(sample.memory.python_blocks),
    "tfmemwatch_findings": Readings._findings,
    "tfmemwatch_leaks_found_total": lambda self, sample: [((kind,), float(n)) for kind, n in self._found.items()],
    "tfmemwatch_suspect_info": Readings._suspect_info,
    "tfmemwatch_suspect_growth": _suspects("findings", "grown"),
    "tfmemwatch_suspect_growth_per_hour": _suspects("findings", "rate"),
    "tfmemwatch_suspect_bytes": _suspects("findings", "bytes"),
    "tfmemwatch_suspect_bytes_per_hour": _suspects("findings", "bytes_rate"),
    "tfmemwatch_filling_bytes": _suspects("filling", "bytes"),
    "tfmemwatch_probe_up": lambda self, sample: [((name,), float(up)) for name, up in sorted(sample.probes.items())],
    "tfmemwatch_level": lambda self, sample: (
        [((sample.level.because,), float(LEVELS.index(sample.level.name)))] if sample.level else []
    ),
    "tfmemwatch_level_since_timestamp_seconds": lambda self, sample: _one(sample.level and sample.level.since),
    "tfmemwatch_own_seconds_total": lambda self, sample: _one(sample.own.seconds),
    "tfmemwatch_own_bytes": lambda self, sample: _one(sample.own.bytes),
    "tfmemwatch_looks_total": lambda self, sample: _one(sample.own.looks),
    "tfmemwatch_last_look_timestamp_seconds": lambda self, sample: _one(sample.own.looked_at),
    "tfmemwatch_folded_events_total": lambda self, sample: _one(sample.own.folded),
    "tfmemwatch_folded_labels": Readings._folded,
    "tfmemwatch_failures_total": lambda self, sample: [
        ((where,), float(n)) for where, n in sorted(sample.own.failures.items())
    ],
    "tfmemwatch_build_info": Readings._build,
    "tfmemwatch_task_info": lambda self, sample: [] if self._task is None else [(self._task, 1.0)],
}


def taskname(setting: str) -> Optional[Tuple[str, str]]:
    """The type and index of this task, out of TF_CONFIG; None where there is none."""
    try:
        task = json.loads(setting)["task"]
        return plain(str(task["type"])), plain(str(task["index"]))
    except (ValueError, KeyError, TypeError):
        return None
