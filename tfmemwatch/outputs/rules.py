"""Recording and alerting rules for Prometheus, as `tfmemwatch rules` prints them: the fleet's engine is Prometheus."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Sequence, Union

_OF = "sum by (job, instance) "
_TO_LIMIT = "instance:tfmemwatch_limit_seconds:min"
_RETRACES = "instance_function:tfmemwatch_retraces:rate10m"
_LEAKS = "instance_site:tfmemwatch_suspect_bytes:sum"


def to_limit(of: str = "") -> str:
    """Seconds to the limit that each target reaches first. The machine's is one to which all its workers grow."""
    machine = ",".join(filter(None, [of, 'limit="machine"']))
    others = ",".join(filter(None, [of, 'limit!="machine"']))
    return (
        "min by (job, instance) (tfmemwatch_limit_seconds{%s}"
        " or 1 / sum by (job, instance, limit) (1 / tfmemwatch_limit_seconds{%s}))" % (others, machine)
    )


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


_AT = "{{ $labels.site }} on {{ $labels.instance }}"
_SUSPECT = (
    "{{ .Labels.site }}: {{ .Labels.cause }}{{ if gt .Value 0.0 }}; at least {{ humanize1024 .Value }}B kept{{ end }}"
    ". Cure: {{ .Labels.cure }} "
)
_SUSPECTS = _ask(
    "topk(3, %s{})" % _LEAKS,
    ("job", "instance"),
    _SUSPECT,
    "No line is known to leak yet. tfmemwatch.report() in that process, or `tfmemwatch owners --door FOLDER`, says "
    "whose memory it is.",
)
RECORDING: Sequence[Mapping[str, Any]] = (
    _record("instance:tfmemwatch_resident_bytes:sum", _OF + "(tfmemwatch_resident_bytes)"),
    _record("instance:tfmemwatch_limit_left_bytes:min", "min by (job, instance) (tfmemwatch_limit_left_bytes)"),
    _record("instance:tfmemwatch_orphan_functions:sum", _OF + "(tfmemwatch_orphan_functions)"),
    _record("instance:tfmemwatch_own_seconds:rate10m", _OF + "(rate(tfmemwatch_own_seconds_total[10m]))"),
    _record(_RETRACES, "sum by (job, instance, function, site) (rate(tfmemwatch_retraces_total[10m]))"),
    _record(_TO_LIMIT, to_limit()),
    _record(
        _LEAKS,
        "max by (job, instance, kind, site, cause, cure) (tfmemwatch_suspect_info"
        " * on (job, instance, kind, site) group_left ()"
        " sum by (job, instance, kind, site) (tfmemwatch_suspect_bytes))",
    ),
    _record(
        "job:tfmemwatch_leaking_instance:topk1",
        "topk by (job) (1, sum by (job, instance, kind, site) (tfmemwatch_suspect_growth_per_hour))",
    ),
)
ALERTS: Sequence[Mapping[str, Any]] = (
    _alert(
        "TfmemwatchLeakFound",
        "max by (job, instance, kind, site) (tfmemwatch_suspect_info) > 0",
        "2m", "warning",
        "A leak ({{ $labels.kind }}) at " + _AT,
        _ask("topk(1, %s{})" % _LEAKS, ("job", "instance", "kind", "site"), _SUSPECT),
        keep="15m",
    ),
    _alert(
        "TfmemwatchRetraceStorm",
        _RETRACES + " > 0.2",
        "10m", "warning",
        "{{ $labels.function }} is traced {{ printf \"%.2g\" $value }} times a second at " + _AT,
        "{{ $labels.site }}: the tf.function {{ $labels.function }} is traced again and again"
        + _ask(
            "topk(1, sum by (argument, cause) (rate(tfmemwatch_retrace_causes_total{}[10m])))",
            ("job", "instance", "function", "site"),
            ", most often for {{ with .Labels.argument }}{{ . }}: {{ end }}{{ .Labels.cause }}",
        )
        + ". Cure: "
        + _ask(
            "topk(1, %s{})" % _LEAKS,
            ("job", "instance", "site"),
            "{{ .Labels.cure }}",
            "Pass tensors instead of Python values, give it an input_signature with None where shapes vary, or "
            "reduce_retracing=True.",
        ),
    ),
    _alert(
        "TfmemwatchSessionsLeftOpen",
        "sum by (job, instance, site) (tfmemwatch_open_sessions) >= 8"
        " and max by (job, instance, site) (tfmemwatch_oldest_session_seconds) > 3600",
        "10m", "warning",
        "{{ $value }} sessions are open at " + _AT,
        "{{ $labels.site }}: sessions are opened here and left open, the oldest for more than an hour. Cure: Use "
        "`with tf.Session(...) as session:` or call session.close(); one session serves many threads.",
    ),
    _alert(
        "TfmemwatchOrphanFunctions",
        "delta(instance:tfmemwatch_orphan_functions:sum[1h]) > 100",
        "30m", "warning",
        "{{ printf \"%.0f\" $value }} functions without an owner have come in an hour on {{ $labels.instance }}",
        "TensorFlow's runtime holds more and more functions that no living trace owns. Often the cause is a SavedModel "
        "that is loaded again and again. Cure: Load it once, or in a process of its own. "
        + _ask("topk(3, %s{})" % _LEAKS, ("job", "instance"), _SUSPECT,
               "tfmemwatch.report() in that process names the lines."),
    ),
    _alert(
        "TfmemwatchLimitWithinSixHours",
        "%s < 6 * 3600" % _TO_LIMIT,
        "15m", "warning",
        "{{ $labels.instance }} reaches its memory limit in {{ $value | humanizeDuration }}",
        "Memory grows steadily; the time is for its present rate. " + _SUSPECTS,
    ),
    _alert(
        "TfmemwatchLimitWithinAnHour",
        "%s < 3600" % _TO_LIMIT,
        "5m", "critical",
        "{{ $labels.instance }} reaches its memory limit in {{ $value | humanizeDuration }}",
        "Memory grows steadily; the time is for its present rate. Restart the process before then. " + _SUSPECTS,
    ),
    _alert(
        "TfmemwatchDown",
        "time() - min by (job, instance) (tfmemwatch_last_look_timestamp_seconds) > 300"
        " or (max by (job, instance) (tfmemwatch_looks_total offset 15m)"
        " unless max by (job, instance) (tfmemwatch_looks_total)) and on (job, instance) up == 1"
        " or (sum by (job, instance) (increase(tfmemwatch_looks_total[15m])) == 0"
        " unless on (job, instance) tfmemwatch_level{because=\"set\"} == 0)"
        " or min by (job, instance) (tfmemwatch_level{because=\"budget\"}) == 0",
        "5m", "warning",
        "Nothing watches {{ $labels.instance }} any more",
        "The process answers, but tfmemwatch in it (or in one of its workers) no longer looks, or its level is off "
        "because its hooks took more of the time than TFMEMWATCH_MAX_OVERHEAD allows. The logger tfmemwatch of that "
        "process says why, and so does tfmemwatch.report() in it.",
    ),
    _alert(
        "TfmemwatchOverBudget",
        "instance:tfmemwatch_own_seconds:rate10m"
        " / count by (job, instance) (tfmemwatch_last_look_timestamp_seconds) > 0.02",
        "15m", "warning",
        "tfmemwatch takes {{ $value | humanizePercentage }} of a core on {{ $labels.instance }}",
        "Look less often (TFMEMWATCH_SAMPLE_SECONDS), without evidence (TFMEMWATCH_EVIDENCE=false), or less closely "
        "(TFMEMWATCH_LEVEL=counts).",
    ),
)  # fmt: skip


def rules() -> str:
    """Both groups, as YAML."""
    groups = {"groups": [{"name": "tfmemwatch", "rules": RECORDING}, {"name": "tfmemwatch-alerts", "rules": ALERTS}]}
    return "# Made by `tfmemwatch rules`.\n" + "\n".join(_yaml(groups)) + "\n"


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
