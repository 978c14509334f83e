"""Recording and alerting rules for Prometheus, as `tfmemwatch rules` prints them: the fleet's engine is Prometheus.

One leak is one alert: what explains another alert keeps it from firing. Who runs several workers behind one address has
one alert for all of them, and the labels by which a platform finds its people are kept.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Union

from ..errors import ConfigError

KEPT = ("namespace", "pod")  # where there are none, these say nothing
RUNBOOK = (
    "https://github.com/tfmemwatch/tfmemwatch/blob/main/docs/pages/alerts.md#"  # behind it the alert's name, small
)
_TARGET = ("job", "instance")
_TO_LIMIT = "instance:tfmemwatch_limit_seconds:min"
_RESIDENT = "instance:tfmemwatch_resident_bytes:sum"
_OWN = "instance:tfmemwatch_own_seconds:rate10m"
_RETRACES = "instance_function:tfmemwatch_retraces:rate10m"
_LEAKS = "instance_site:tfmemwatch_suspect_bytes:sum"
_INFO = "tfmemwatch_suspect_info"
_NAMED, _UNNAMED = 'site!~"unknown|other"', 'site=~"unknown|other"'
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")


class Labels(NamedTuple):
    """By which labels things are told apart: those of a target, and those that a platform adds."""

    kept: Tuple[str, ...] = KEPT

    def of(self, *more: str) -> str:
        """The labels of a target and these, as PromQL lists them."""
        return ", ".join(dict.fromkeys((*self.kept, *_TARGET, *more)))


PLAIN = Labels()


def kept(text: str) -> Labels:
    """Labels to keep, as one writes them: `namespace,pod`."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    wrong = [name for name in names if not _LABEL.match(name)]
    if wrong:
        raise ConfigError("--keep is %r; %r is no name of a label" % (text, wrong[0]))
    return Labels(names)


def to_limit(of: str = "", labels: Labels = PLAIN) -> str:
    """Seconds to the limit that each target reaches first. The machine's is one to which all its workers grow."""
    machine = ",".join(filter(None, [of, 'limit="machine"']))
    others = ",".join(filter(None, [of, 'limit!="machine"']))
    return "min by (%s) (tfmemwatch_limit_seconds{%s} or 1 / sum by (%s) (1 / tfmemwatch_limit_seconds{%s}))" % (
        labels.of(), others, labels.of("limit"), machine,
    )  # fmt: skip


def _record(name: str, expr: str) -> Dict[str, Any]:
    return {"record": name, "expr": expr}


def _alert(
    name: str, expr: str, wait: str, severity: str, summary: str, description: str, *, keep: str = "10m"
) -> Dict[str, Any]:
    return {
        "alert": name, "expr": expr, "for": wait, "keep_firing_for": keep, "labels": {"severity": severity},
        "annotations": {"summary": summary, "description": description},
    }  # fmt: skip


def _ask(question: str, labels: Sequence[str], then: str, otherwise: str = "") -> str:
    """Text for each answer of Prometheus to a question, in which `{}` selects what has the alert's own labels."""
    given = ",".join("%s=%%q" % label for label in labels)
    values = "".join(" $labels.%s" % label for label in labels)
    asked = "(printf `%s`%s)" % (question.replace("{}", "{%s}" % given), values)
    return "{{ range query %s }}%s%s{{ end }}" % (asked, then, "{{ else }}" + otherwise if otherwise else "")


_WHO = "{{ with $labels.pod }}{{ . }}{{ else }}{{ $labels.instance }}{{ end }}"
_AT = "{{ $labels.site }} on " + _WHO
_SUSPECT = (
    "{{ .Labels.site }}: {{ .Labels.cause }}{{ if gt .Value 0.0 }}; at least "
    '{{ humanize1024 .Value | reReplaceAll "ki" "Ki" }}B kept{{ end }}. Cure: {{ .Labels.cure }} '
)
_SUSPECTS = _ask(
    "topk(3, %s{})" % _LEAKS,
    _TARGET,
    _SUSPECT,
    "No line is known to leak yet. tfmemwatch.report() in that process, or `tfmemwatch owners --door FOLDER`, says "
    "whose memory it is.",
)


def recording(labels: Labels = PLAIN) -> Sequence[Mapping[str, Any]]:
    """What dashboards and alerts ask for again and again."""
    by, of_suspect = labels.of(), labels.of("kind", "site")
    return (
        _record(_RESIDENT, "sum by (%s) (tfmemwatch_proportional_bytes)" % by),
        _record("instance:tfmemwatch_limit_left_bytes:min", "min by (%s) (tfmemwatch_limit_left_bytes)" % by),
        _record("instance:tfmemwatch_orphan_functions:sum", "sum by (%s) (tfmemwatch_orphan_functions)" % by),
        _record(_OWN, "sum by (%s) (rate(tfmemwatch_own_seconds_total[10m]))" % by),
        _record(_RETRACES, "sum by (%s) (rate(tfmemwatch_retraces_total[10m]))" % labels.of("function", "site")),
        _record(_TO_LIMIT, to_limit(labels=labels)),
        _record(
            _LEAKS,
            "max by (%s) (%s * on (%s) group_left () sum by (%s) (tfmemwatch_suspect_bytes))"
            % (labels.of("kind", "site", "cause", "cure"), _INFO, of_suspect, of_suspect),
        ),
        _record(
            "job:tfmemwatch_leaking_instance:topk1",
            "topk by (job) (1, sum by (%s) (tfmemwatch_suspect_growth_per_hour))" % of_suspect,
        ),
    )  # fmt: skip


def _found(labels: Labels) -> str:
    """Each open leak. A worker that knows no line for it says nothing where another one does."""
    found = "max by (%s) (%s{%%s})" % (labels.of("kind", "site"), _INFO)
    return "%s > 0 or (%s unless on (%s) %s{%s}) > 0" % (
        found % _NAMED, found % _UNNAMED, labels.of("kind"), _INFO, _NAMED,
    )  # fmt: skip


def _storms(labels: Labels) -> str:
    """Functions that are traced again and again, where no leak says so already."""
    storm, by = _RETRACES + "{%s} > 0.2", labels.of()
    named = "%s unless on (%s) %s unless on (%s) %s{kind=\"retrace\",%s}" % (
        storm % _NAMED, labels.of("site"), _INFO, by, _INFO, _UNNAMED,
    )  # fmt: skip
    unnamed = '%s unless on (%s) %s unless on (%s) %s{kind="retrace"}' % (
        storm % _UNNAMED,
        by,
        storm % _NAMED,
        by,
        _INFO,
    )
    return "%s or %s" % (named, unnamed)


def _down(labels: Labels) -> str:
    """The watch does not watch: it has stopped, has gone, stands still, or is off because it cost too much."""
    by = labels.of()
    return (
        "time() - min by (%s) (tfmemwatch_last_look_timestamp_seconds) > 300"
        " or (max by (%s) (tfmemwatch_looks_total offset 15m)"
        " unless max by (%s) (tfmemwatch_looks_total)) and on (job, instance) up == 1"
        " or (sum by (%s) (increase(tfmemwatch_looks_total[15m])) == 0"
        ' unless on (%s) tfmemwatch_level{because="set"} == 0)'
        ' or min by (%s) (tfmemwatch_level{because="budget"}) == 0'
    ) % (by, by, by, by, by, by)


def alerts(labels: Labels = PLAIN) -> Sequence[Mapping[str, Any]]:
    """What somebody is to be told of."""
    by = labels.of()
    return (
        _alert(
            "TfmemwatchLeakFound",
            _found(labels),
            "2m", "warning",
            "A leak ({{ $labels.kind }}) at " + _AT,
            _ask("topk(1, %s{})" % _LEAKS, (*_TARGET, "kind", "site"), _SUSPECT),
            keep="15m",
        ),
        _alert(
            "TfmemwatchRetraceStorm",
            _storms(labels),
            "10m", "warning",
            "{{ $labels.function }} is traced {{ printf \"%.2g\" $value }} times a second at " + _AT,
            "{{ $labels.site }}: the tf.function {{ $labels.function }} is traced again and again"
            + _ask(
                "topk(1, sum by (argument, cause) (rate(tfmemwatch_retrace_causes_total{}[10m])))",
                (*_TARGET, "function", "site"),
                ", most often for {{ with .Labels.argument }}{{ . }}: {{ end }}{{ .Labels.cause }}",
            )
            + ". Cure: "
            + _ask(
                "topk(1, %s{})" % _LEAKS,
                (*_TARGET, "site"),
                "{{ .Labels.cure }}",
                "Pass tensors instead of Python values, give it an input_signature with None where shapes vary, or "
                "reduce_retracing=True.",
            ),
        ),
        _alert(
            "TfmemwatchSessionsLeftOpen",
            "sum by (%s) (tfmemwatch_open_sessions) >= 8 and max by (%s) (tfmemwatch_oldest_session_seconds) > 3600"
            " unless on (%s) %s{kind=\"session_unclosed\"}"
            % (labels.of("site"), labels.of("site"), labels.of("site"), _INFO),
            "10m", "warning",
            "{{ $value }} sessions are open at " + _AT,
            "{{ $labels.site }}: sessions are opened here and left open, the oldest for more than an hour. Cure: Use "
            "`with tf.Session(...) as session:` or call session.close(); one session serves many threads.",
        ),
        _alert(
            "TfmemwatchOrphanFunctions",
            "delta(instance:tfmemwatch_orphan_functions:sum[1h]) > 100"
            " unless on (%s) %s{kind=~\"model_rebuild|function_library\"}" % (by, _INFO),
            "30m", "warning",
            "{{ printf \"%.0f\" $value }} functions without an owner have come in an hour on " + _WHO,
            "TensorFlow's runtime holds more and more functions that no living trace owns. Often the cause is a "
            "SavedModel that is loaded again and again. Cure: Load it once, or in a process of its own. "
            + _ask("topk(3, %s{})" % _LEAKS, _TARGET, _SUSPECT,
                   "tfmemwatch.report() in that process names the lines."),
        ),
        _alert(
            "TfmemwatchLimitWithinSixHours",
            "%s < 6 * 3600 unless on (job, instance)"
            " ALERTS{alertname=\"TfmemwatchLimitWithinAnHour\",alertstate=\"firing\"}" % _TO_LIMIT,
            "15m", "warning",
            _WHO + " reaches its memory limit in {{ $value | humanizeDuration }}",
            "Memory grows steadily; the time is for its present rate. " + _SUSPECTS,
        ),
        _alert(
            "TfmemwatchLimitWithinAnHour",
            "%s < 3600" % _TO_LIMIT,
            "5m", "critical",
            _WHO + " reaches its memory limit in {{ $value | humanizeDuration }}",
            "Memory grows steadily; the time is for its present rate. Restart the process before then. " + _SUSPECTS,
        ),
        _alert(
            "TfmemwatchDown",
            _down(labels),
            "5m", "warning",
            "Nothing watches " + _WHO + " any more",
            "The process answers, but tfmemwatch in it (or in one of its workers) no longer looks, or its level is off "
            "because its hooks took more of the time than TFMEMWATCH_MAX_OVERHEAD allows. The logger tfmemwatch of "
            "that process says why, and so does tfmemwatch.report() in it.",
        ),
        _alert(
            "TfmemwatchOverBudget",
            _OWN + " / count by (%s) (tfmemwatch_last_look_timestamp_seconds) > 0.02" % by,
            "15m", "warning",
            "tfmemwatch takes {{ $value | humanizePercentage }} of a core on " + _WHO,
            "Look less often (TFMEMWATCH_SAMPLE_SECONDS), without evidence (TFMEMWATCH_EVIDENCE=false), or less "
            "closely (TFMEMWATCH_LEVEL=counts).",
        ),
    )  # fmt: skip


RECORDING, ALERTS = recording(), alerts()


def runbook_of(alert: str, base: str = "") -> str:
    """Where one reads what to do about an alert: a page of ours, or one's own under an address of one's own."""
    if not base:
        return RUNBOOK + alert.lower()
    if "{alert}" in base:
        return base.replace("{alert}", alert)
    return base + ("" if base[-1] in "/#=" else "/") + alert


def groups(labels: Labels = PLAIN, runbook: str = "") -> List[Dict[str, Any]]:
    """Both groups, as Prometheus reads them."""
    told = [
        {**one, "annotations": {**one["annotations"], "runbook_url": runbook_of(one["alert"], runbook)}}
        for one in alerts(labels)
    ]
    return [{"name": "tfmemwatch", "rules": recording(labels)}, {"name": "tfmemwatch-alerts", "rules": told}]


def rules(labels: Labels = PLAIN, runbook: str = "", as_json: bool = False) -> str:
    """A file of rules."""
    return text_of({"groups": groups(labels, runbook)}, "rules", as_json)


def prometheus_rule(
    labels: Labels = PLAIN, runbook: str = "", metadata: Mapping[str, Any] = {}, as_json: bool = False
) -> str:
    """The same for Prometheus Operator: an object of Kubernetes."""
    return text_of({
        "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
        "metadata": {"name": "tfmemwatch", **metadata}, "spec": {"groups": groups(labels, runbook)},
    }, "rules --kubernetes", as_json)  # fmt: skip


def text_of(value: Mapping[str, Any], made_by: str, as_json: bool) -> str:
    """In YAML, with the command that makes it; or as JSON, which has no place for it."""
    if as_json:
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return "# Made by `tfmemwatch %s`.\n%s" % (made_by, yaml_of(value))


def yaml_of(value: Mapping[str, Any]) -> str:
    """A text in YAML."""
    return "\n".join(_yaml(value)) + "\n"


def _yaml(value: Union[Mapping[str, Any], Sequence[Any]]) -> List[str]:
    """Block YAML of mappings, sequences and texts; a text that is quoted as in JSON is one in YAML."""
    lines: List[str] = []
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if isinstance(inner, str):
                lines.append("%s: %s" % (name, json.dumps(inner, ensure_ascii=False)))
            else:
                lines += [name + ":", *("  " + line for line in _yaml(inner))]
        return lines
    for inner in value:
        first, *rest = _yaml(inner)
        lines += ["- " + first, *("  " + line for line in rest)]
    return lines
