"""A Grafana dashboard, as `tfmemwatch dashboard` prints it: what one asks first, and all else from the catalogue."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from ..catalog import METRICS, Metric

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_WHERE = 'job=~"$job", instance=~"$instance"'
_WIDTH = 24


class Panel(NamedTuple):
    """One picture: what it asks and how it is shown."""

    title: str
    description: str
    unit: str
    targets: Tuple[Tuple[str, str], ...]  # expression and legend
    kind: str = "timeseries"
    width: int = 8
    stacked: bool = False


def _q(expr: str) -> str:
    """An expression with `X{}` selecting what the variables say."""
    return expr.replace("{}", "{%s}" % _WHERE)


FLEET: Sequence[Panel] = (
    Panel("Who grows", "Resident memory of each process, by the hour, over the last hour", "bytes",
          (("topk(10, 3600 * deriv(sum by (job, instance) (tfmemwatch_resident_bytes{})[1h:1m]))", "{{instance}}"),),
          width=8),
    Panel("Who dies first", "Time until the memory limit, if growth goes on as in the last hour", "s",
          (("bottomk(10, min by (job, instance) (tfmemwatch_limit_seconds{}) or min by (job, instance) "
            "(tfmemwatch_limit_left_bytes{}) / "
            "(deriv(sum by (job, instance) (tfmemwatch_resident_bytes{})[1h:1m]) > 0))",
            "{{instance}}"),), kind="bargauge"),
    Panel("Leaks that are open", "By kind and process", "short",
          (("sum by (instance, kind) (tfmemwatch_findings{}) > 0",
            "{{instance}} {{kind}}"),)),
    Panel("Where it leaks", "Each leak that is open: its line, its cause and its cure", "short",
          (("max by (job, instance, kind, site, cause, cure) (tfmemwatch_suspect_info{})", "{{kind}} {{site}}"),),
          kind="table", width=24),
)  # fmt: skip
PROCESS: Sequence[Panel] = (
    Panel("Memory by owner, and the limit", "What the process holds, stacked, against its limit", "bytes",
          (("sum by (owner) (tfmemwatch_memory_bytes{})", "{{owner}}"),
           ("min(tfmemwatch_limit_bytes{})", "limit")), width=16, stacked=True),
    Panel("Kept by leaks", "What each open leak has kept so far", "bytes",
          (("sum by (kind, site) (tfmemwatch_suspect_bytes{})", "{{kind}} {{site}}"),)),
    Panel("Growth by model", "What memory in use gained over the measured calls of each model", "bytes",
          (('sum by (model, method) (tfmemwatch_model_grown_bytes{%s, model=~"$model"})' % _WHERE,
            "{{model}} {{method}}"),)),
    Panel("Retraces a minute", "Each is paid in milliseconds and kept in memory", "short",
          (("60 * sum by (function, site) (rate(tfmemwatch_retraces_total{}[$__rate_interval]))",
            "{{function}} at {{site}}"),)),
    Panel("Why functions are traced again", "By argument and cause, a minute", "short",
          (("60 * sum by (function, argument, cause) (rate(tfmemwatch_retrace_causes_total{}[$__rate_interval]))",
            "{{function}} {{argument}}: {{cause}}"),)),
    Panel("Sessions", "Open ones, by the line that opened them", "short",
          (("sum by (site) (tfmemwatch_open_sessions{})", "{{site}}"),)),
    Panel("Graphs", "Graphs alive, operations in those that run, and operations added to them since", "short",
          (("sum by (site) (tfmemwatch_live_graphs{})", "graphs at {{site}}"),
           ("sum by (instance) (tfmemwatch_run_graph_operations{})", "{{instance}} operations"),
           ("sum by (site) (tfmemwatch_operations_added{})", "operations added at {{site}}"))),
    Panel("Functions", "Registered in the runtime, without an owner, and traces that are alive", "short",
          (("sum by (instance) (tfmemwatch_registered_functions{})", "{{instance}} registered"),
           ("sum by (instance) (tfmemwatch_orphan_functions{})", "{{instance}} without an owner"),
           ("sum by (instance) (tfmemwatch_live_traces{})", "{{instance}} traces alive"))),
    Panel("How fast leaks grow", "How many more in an hour", "short",
          (("sum by (kind, site) (tfmemwatch_suspect_growth_per_hour{})", "{{kind}} {{site}}"),)),
)  # fmt: skip
WATCH: Sequence[Panel] = (
    Panel("What the watch costs", "Its share of one core", "percentunit",
          (("sum by (instance) (rate(tfmemwatch_own_seconds_total{}[$__rate_interval]))", "{{instance}}"),)),
    Panel("Since the last look", "A watch that looks no more shows here", "s",
          (("time() - max by (instance) (tfmemwatch_last_look_timestamp_seconds{})", "{{instance}}"),)),
    Panel("Probes that are up", "Of those that there are", "short",
          (("sum by (instance) (tfmemwatch_probe_up{})", "{{instance}}"),)),
)  # fmt: skip


def dashboard() -> str:
    """The dashboard, as JSON to import or provision."""
    panels: List[Dict[str, Any]] = []
    top = 0
    for title, row in (("Fleet", FLEET), ("One process", PROCESS), ("The watch itself", WATCH), ("All else", _rest())):
        top = _place(panels, title, row, top)
    return json.dumps(_board(panels), indent=2, ensure_ascii=False) + "\n"


def _rest() -> Sequence[Panel]:
    """A panel for every metric of the catalogue that no panel above asks for."""
    asked = " ".join(expr for panel in (*FLEET, *PROCESS, *WATCH) for expr, _ in panel.targets)
    return [_of(metric) for metric in METRICS if metric.name + "{" not in asked]


def _of(metric: Metric) -> Panel:
    labels = ("instance", *metric.labels)
    how = "max" if metric.adds == "max" else "sum"
    legend = " ".join("{{%s}}" % label for label in labels)
    if metric.type == "counter":
        inner = "rate(%s{}[$__rate_interval])" % metric.name
        unit = {"bytes": "Bps", "seconds": "percentunit"}.get(metric.unit, "cps")
    else:
        inner, unit = metric.name + "{}", {"bytes": "bytes", "seconds": "s"}.get(metric.unit, "short")
    words = metric.name[len("tfmemwatch_") :].replace("_total", "").replace("_", " ")
    title = words[0].upper() + words[1:]
    expr = "%s by (%s) (%s)" % (how, ", ".join(labels), inner)
    return Panel(title, metric.help, unit, ((expr, legend),), width=6)


def _place(panels: List[Dict[str, Any]], title: str, row: Sequence[Panel], top: int) -> int:
    """Put a row and its panels below what is there; says where the next row begins."""
    panels.append({"type": "row", "title": title, "collapsed": False, "id": len(panels) + 1, "panels": [],
                   "gridPos": {"h": 1, "w": _WIDTH, "x": 0, "y": top}})  # fmt: skip
    left, top = 0, top + 1
    for panel in row:
        if left + panel.width > _WIDTH:
            left, top = 0, top + 8
        panels.append(_panel(panel, len(panels) + 1, {"h": 8, "w": panel.width, "x": left, "y": top}))
        left += panel.width
    return top + 8


def _panel(panel: Panel, number: int, place: Dict[str, int]) -> Dict[str, Any]:
    is_table = panel.kind == "table"
    custom = {
        "timeseries": {
            "drawStyle": "line", "fillOpacity": 30 if panel.stacked else 10, "lineWidth": 1, "showPoints": "auto",
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        },
    }.get(panel.kind, {})  # fmt: skip
    overrides: List[Dict[str, Any]] = []
    if panel.stacked:
        overrides = [{
            "matcher": {"id": "byName", "options": "limit"},
            "properties": [
                {"id": "custom.stacking", "value": {"mode": "none", "group": "A"}},
                {"id": "custom.fillOpacity", "value": 0},
                {"id": "color", "value": {"mode": "fixed", "fixedColor": "red"}},
            ],
        }]  # fmt: skip
    shown: Dict[str, Any] = {
        "id": number, "type": panel.kind, "title": panel.title, "description": panel.description, "gridPos": place,
        "datasource": _SOURCE,
        "targets": [
            {
                "refId": chr(65 + index), "datasource": _SOURCE, "expr": _q(expr), "legendFormat": legend,
                "editorMode": "code", "range": not is_table and panel.kind != "bargauge",
                "instant": is_table or panel.kind == "bargauge", "format": "table" if is_table else "time_series",
            }
            for index, (expr, legend) in enumerate(panel.targets)
        ],
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": custom}, "overrides": overrides},
        "options": _OPTIONS[panel.kind],
    }  # fmt: skip
    if is_table:
        shown["transformations"] = [
            {"id": "organize", "options": {"excludeByName": {"Time": True, "Value": True}, "indexByName": {},
                                           "renameByName": {"site": "line"}}}]  # fmt: skip
    return shown


_OPTIONS: Dict[str, Dict[str, Any]] = {
    "timeseries": {
        "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom", "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "bargauge": {
        "displayMode": "basic", "orientation": "horizontal",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    },
    "table": {"showHeader": True, "cellHeight": "sm"},
}  # fmt: skip


def _variable(name: str, label: str, query: str) -> Dict[str, Any]:
    return {
        "type": "query", "name": name, "label": label, "datasource": _SOURCE, "refresh": 2, "multi": True,
        "includeAll": True, "allValue": ".*", "sort": 1, "hide": 0, "query": query,
        "current": {"text": "All", "value": "$__all", "selected": True},
    }  # fmt: skip


def _board(panels: List[Dict[str, Any]]) -> Dict[str, Any]:
    return {
        "uid": "tfmemwatch", "title": "tfmemwatch", "tags": ["tfmemwatch", "tensorflow"], "schemaVersion": 39,
        "description": "What leaks in TensorFlow programs: who grows, where, and what to do about it.",
        "editable": True, "refresh": "30s", "timezone": "browser", "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [
            {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "hide": 0,
             "current": {"text": "Prometheus", "value": "default", "selected": True}},
            _variable("job", "Job", "label_values(tfmemwatch_build_info, job)"),
            _variable("instance", "Instance", 'label_values(tfmemwatch_build_info{job=~"$job"}, instance)'),
            _variable("model", "Model", "label_values(tfmemwatch_model_calls_total{%s}, model)" % _WHERE),
        ]},
        "annotations": {"list": [
            {"name": "Leaks found", "enable": True, "datasource": _SOURCE, "iconColor": "red",
             "expr": "max by (job, instance, kind, site, cure) (tfmemwatch_suspect_info{%s})" % _WHERE,
             "titleFormat": "{{kind}} {{site}}", "textFormat": "{{cure}}", "step": "60s"},
        ]},
        "panels": panels,
    }  # fmt: skip
