"""Recording and alerting rules for Prometheus, as `tfmemwatch rules` prints them: the fleet's engine is Prometheus."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Sequence, Union

_OF = "sum by (job, instance) "
_TO_LIMIT = "instance:tfmemwatch_limit_seconds:min"
_RETRACES = "instance_function:tfmemwatch_retraces:rate10m"


def _record(name: str, expr: str) -> Dict[str, Any]:
    return {"record": name, "expr": expr}


def _alert(
    name: str, expr: str, wait: str, severity: str, summary: str, description: str, *, keep: str = "10m"
) -> Dict[str, Any]:
    return {
        "alert": name, "expr": expr, "for": wait, "keep_firing_for": keep, "labels": {"severity": severity},
        "annotations": {"summary": summary, "description": description},
    }  # fmt: skip


_AT = "{{ $labels.site }} of {{ $labels.instance }}"
RECORDING: Sequence[Mapping[str, Any]] = (
    _record("instance:tfmemwatch_resident_bytes:sum", _OF + "(tfmemwatch_resident_bytes)"),
    _record("instance:tfmemwatch_limit_left_bytes:min", "min by (job, instance) (tfmemwatch_limit_left_bytes)"),
    _record("instance:tfmemwatch_live_traces:sum", _OF + "(tfmemwatch_live_traces)"),
    _record("instance:tfmemwatch_registered_functions:sum", _OF + "(tfmemwatch_registered_functions)"),
    _record("instance:tfmemwatch_own_seconds:rate10m", _OF + "(rate(tfmemwatch_own_seconds_total[10m]))"),
    _record(_RETRACES, "sum by (job, instance, function, site) (rate(tfmemwatch_retraces_total[10m]))"),
    _record(
        _TO_LIMIT,
        "min by (job, instance) (tfmemwatch_limit_seconds)"
        " or instance:tfmemwatch_limit_left_bytes:min / (deriv(instance:tfmemwatch_resident_bytes:sum[1h]) > 0)",
    ),
    _record(
        "job:tfmemwatch_leaking_instance:topk1",
        "topk by (job) (1, sum by (job, instance, kind, site) (tfmemwatch_suspect_growth_per_hour))",
    ),
)
ALERTS: Sequence[Mapping[str, Any]] = (
    _alert(
        "TfmemwatchLeakFound",
        "max by (job, instance, kind, site, cause, cure) (tfmemwatch_suspect_info) > 0",
        "2m", "warning",
        "A leak ({{ $labels.kind }}) at " + _AT,
        "{{ $labels.site }}: {{ $labels.cause }}. {{ $labels.cure }}",
        keep="15m",
    ),
    _alert(
        "TfmemwatchRetraceStorm",
        _RETRACES + " > 0.2",
        "10m", "warning",
        "{{ $labels.function }} is traced {{ $value | humanize }} times a second at " + _AT,
        "{{ $labels.site }}: the tf.function {{ $labels.function }} is traced anew again and again. Pass tensors "
        "instead of Python values, give it an input_signature with None where shapes vary, or reduce_retracing=True.",
    ),
    _alert(
        "TfmemwatchSessionsLeftOpen",
        "sum by (job, instance, site) (tfmemwatch_open_sessions) >= 8"
        " and max by (job, instance, site) (tfmemwatch_oldest_session_seconds) > 3600",
        "10m", "warning",
        "{{ $value }} sessions are open at " + _AT,
        "{{ $labels.site }}: sessions are opened here and left open, the oldest for more than an hour. Use "
        "`with tf.Session(...) as session:` or call session.close(); one session serves many threads.",
    ),
    _alert(
        "TfmemwatchOrphanFunctions",
        "delta(instance:tfmemwatch_registered_functions:sum[1h]) > 100"
        " and delta(instance:tfmemwatch_live_traces:sum[1h]) < 10",
        "30m", "warning",
        "{{ $value | humanize }} functions without an owner were registered on {{ $labels.instance }} in an hour",
        "TensorFlow's runtime on {{ $labels.instance }} has ever more functions, and no trace that is alive owns them: "
        "often a SavedModel that is loaded again and again. Load it once, or in a process of its own; "
        "tfmemwatch.report() there names the lines.",
    ),
    _alert(
        "TfmemwatchLimitWithinSixHours",
        "%s < 6 * 3600" % _TO_LIMIT,
        "15m", "warning",
        "{{ $labels.instance }} reaches its memory limit in {{ $value | humanizeDuration }}",
        "If it goes on to grow as in the last hour. The lines that leak, and their cures: "
        "tfmemwatch_suspect_info{instance=\"{{ $labels.instance }}\"}.",
    ),
    _alert(
        "TfmemwatchLimitWithinAnHour",
        "%s < 3600" % _TO_LIMIT,
        "5m", "critical",
        "{{ $labels.instance }} reaches its memory limit in {{ $value | humanizeDuration }}",
        "If it goes on to grow as in the last hour. Restart it in time; the lines that leak, and their cures: "
        "tfmemwatch_suspect_info{instance=\"{{ $labels.instance }}\"}.",
    ),
    _alert(
        "TfmemwatchDown",
        "time() - max by (job, instance) (tfmemwatch_last_look_timestamp_seconds) > 300"
        " or (max by (job, instance) (tfmemwatch_looks_total offset 15m)"
        " unless max by (job, instance) (tfmemwatch_looks_total)) and on (job, instance) up == 1",
        "5m", "warning",
        "Nothing watches {{ $labels.instance }} any more",
        "The process answers, and tfmemwatch in it does not look. Its log says why, at the logger tfmemwatch.",
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
