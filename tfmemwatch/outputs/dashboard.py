"""A Grafana dashboard, as `tfmemwatch dashboard` prints it: the first questions, then every metric of the catalogue."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..catalog import METRICS, Metric
from .rules import text_of, to_limit

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_PLACE = 'namespace=~"$namespace", pod=~"$pod"'  # of Kubernetes; where there are none, all matches
_JOB = _PLACE + ', job=~"$job"'
_WHERE = _JOB + ', instance=~"$instance"'
_ONE = _WHERE + ', instance=~"$one"'
_WIDTH = 24
_MATCHED = "job, instance, kind, site"


class Panel(NamedTuple):
    """One picture: what it asks and how it is shown. In a question `{` selects what the variables say."""

    title: str
    description: str
    unit: str
    targets: Tuple[Tuple[str, str], ...]  # expression and legend
    kind: str = "timeseries"
    width: int = 8
    height: int = 8
    stacked: bool = False
    steps: Tuple[Tuple[float, str], ...] = ()  # from which value on it has which colour
    none: str = ""  # what stands there where there is nothing
    columns: Tuple[Tuple[str, str, int], ...] = ()  # of a table: label, title and width, 0 for what is left
    links: str = ""  # the column that leads to the row of one instance


_SOON = ((0.0, "red"), (3600.0, "orange"), (6 * 3600.0, "green"))
_LIMIT = to_limit(_WHERE)
FLEET: Sequence[Panel] = (
    Panel("Instances", "Watched instances; all workers of one count as one", "short",
          (("count(count by (job, instance) (tfmemwatch_build_info{}))", "instances"),), "stat", 6, 4),
    Panel("Leaks", "Open leaks now", "short",
          (("count(max by (%s) (tfmemwatch_suspect_info{})) or vector(0)" % _MATCHED, "leaks"),), "stat", 6, 4,
          steps=((0.0, "green"), (1.0, "red"))),
    Panel("Memory", "Resident memory of all instances; what workers share counts once", "bytes",
          (("sum(tfmemwatch_proportional_bytes{})", "resident"),), "stat", 6, 4),
    Panel("First at a limit", "Time until the first instance reaches a memory limit at its present rate of growth", "s",
          (("min(%s)" % _LIMIT, "first"),), "stat", 6, 4, steps=_SOON, none="none grows to a limit"),
    Panel("Where it leaks", "Each open leak: the bytes kept as far as known, its line, its cause and its cure", "bytes",
          (("max by (%s, cause, cure) (tfmemwatch_suspect_info{} * on (%s) group_left () "
            "sum by (%s) (tfmemwatch_suspect_bytes{}))" % (_MATCHED, _MATCHED, _MATCHED), "{{kind}} {{site}}"),),
          "table", 24, 6, none="nothing leaks",
          columns=(("Value", "kept", 90), ("site", "line", 220), ("cause", "cause", 0), ("cure", "cure", 0),
                   ("kind", "kind", 130), ("instance", "instance", 160), ("job", "job", 100)), links="instance"),
    Panel("In a word", "How a report of each instance would begin; tfmemwatch.report() in it says more", "short",
          (("max by (instance, word) (tfmemwatch_headline{}) == 1", "{{instance}} {{word}}"),),
          "table", 6, columns=(("word", "in a word", 0), ("instance", "instance", 160)), links="instance"),
    Panel("Memory by instance", "Resident memory of the ten largest instances, what their workers share counted once",
          "bytes", (("topk(10, sum by (job, instance) (tfmemwatch_proportional_bytes{}))", "{{instance}}"),), width=6),
    Panel("Fastest growing, by the hour", "The ten instances that grow fastest: growth in an hour, as in the last one",
          "bytes", (("topk(10, 3600 * deriv(sum by (job, instance) (tfmemwatch_proportional_bytes{})[1h:1m]) > 0)",
                     "{{instance}}"),), "bargauge", 6, none="none grows"),
    Panel("Nearest to a limit, time left", "Time until each growing instance reaches its first limit", "s",
          (("bottomk(10, %s)" % _LIMIT, "{{instance}}"),), "bargauge", 6, steps=_SOON, none="none grows to a limit"),
)  # fmt: skip
ONE: Sequence[Panel] = (
    Panel("Memory by owner, and the limit", "Resident memory of the instance, stacked, against its limit", "bytes",
          (("sum by (owner) (tfmemwatch_memory_bytes{})", "{{owner}}"),
           ("min(tfmemwatch_limit_bytes{})", "limit")), width=16, stacked=True),
    Panel("Kept by leaks", "Bytes that each open leak, and what may still be filling, has kept so far, as far as known",
          "bytes", (("sum by (kind, site) (tfmemwatch_suspect_bytes{})", "{{kind}} {{site}}"),
                    ("sum by (kind, site) (tfmemwatch_filling_bytes{})", "{{kind}} {{site}}, may be filling")),
          none="nothing leaks"),
    Panel("Kept more by leaks, by the hour", "Bytes that each open leak keeps more in an hour, as far as known",
          "bytes", (("sum by (kind, site) (tfmemwatch_suspect_bytes_per_hour{})", "{{kind}} {{site}}"),),
          none="nothing leaks"),
    Panel("Things added by leaks, by the hour", "How many leaking things are added in an hour", "short",
          (("sum by (kind, site) (tfmemwatch_suspect_growth_per_hour{})", "{{kind}} {{site}}"),), none="nothing leaks"),
    Panel("Growth by model", "Memory in use gained over the measured calls of each model", "bytes",
          (('sum by (model, method) (tfmemwatch_model_grown_bytes{model=~"$model"})', "{{model}} {{method}}"),)),
    Panel("Retraces, by the minute", "Each retrace takes milliseconds, and its trace is kept in memory", "short",
          (("60 * sum by (function, site) (rate(tfmemwatch_retraces_total{}[$__rate_interval]))",
            "{{function}} at {{site}}"),)),
    Panel("Why functions are traced again, by the minute", "Retraces by argument and cause", "short",
          (("60 * sum by (function, argument, cause) (rate(tfmemwatch_retrace_causes_total{}[$__rate_interval]))",
            "{{function}} {{argument}}: {{cause}}"),)),
    Panel("Functions", "Functions in TensorFlow's runtime, those without an owner, and traces alive", "short",
          (("sum(tfmemwatch_registered_functions{})", "registered"),
           ("sum(tfmemwatch_orphan_functions{})", "without an owner"),
           ("sum(tfmemwatch_live_traces{})", "traces alive"))),
)  # fmt: skip
OF_SESSIONS: Sequence[Panel] = (
    Panel("Sessions", "Open sessions, by the line that opened them", "short",
          (("sum by (site) (tfmemwatch_open_sessions{})", "{{site}}"),), none="no session is open"),
    Panel("Graphs", "Graphs alive, by the line that made them", "short",
          (("sum by (site) (tfmemwatch_live_graphs{})", "{{site}}"),), none="no graph is alive"),
    Panel("Operations", "Operations in graphs that sessions have run, and those added after a run", "short",
          (("sum(tfmemwatch_run_graph_operations{})", "in graphs that run"),
           ("sum by (site) (tfmemwatch_operations_added{})", "added at {{site}}")), none="no session has run"),
)  # fmt: skip
WATCH: Sequence[Panel] = (
    Panel("What the watch costs, share of a core", "The share of one core that the watch's thread takes", "percentunit",
          (("sum by (instance) (rate(tfmemwatch_own_seconds_total{}[$__rate_interval]))", "{{instance}}"),),
          steps=((0.0, "green"), (0.02, "red"))),
    Panel("Since the last look", "Time since the watch looked last; it rises when the watch has stopped", "s",
          (("clamp_min(time() - min by (instance) (tfmemwatch_last_look_timestamp_seconds{}), 0)", "{{instance}}"),),
          steps=((0.0, "green"), (300.0, "red"))),
    Panel("Level", "How closely it looks: 0 off, 1 counts, 2 sites, 3 stacks; `budget` has lowered it", "short",
          (("min by (instance, because) (tfmemwatch_level{})", "{{instance}} ({{because}})"),)),
    Panel("Probes that are off", "What is not watched; `tfmemwatch doctor` says why", "short",
          (("min by (instance, probe) (tfmemwatch_probe_up{}) == 0", "{{instance}} {{probe}}"),),
          "table", none="none", columns=(("probe", "probe", 0), ("instance", "instance", 0))),
)  # fmt: skip


def dashboard(indent: Optional[int] = 2) -> str:
    """The dashboard, as JSON to import or provision."""
    panels: List[Dict[str, Any]] = []
    top = 0
    for title, row, where in (
        ("Fleet", FLEET, _WHERE), ("One instance: $one", ONE, _ONE), ("The watch itself", WATCH, _WHERE),
    ):  # fmt: skip
        top = _place(panels, title, row, where, top)
    for title, row, where in (
        ("Where there are sessions, as in TensorFlow 1: $one", OF_SESSIONS, _ONE),
        ("All other metrics", _rest(), _WHERE),
    ):  # fmt: skip
        rest: List[Dict[str, Any]] = []
        top = _place(rest, title, row, where, top, _count(panels))
        panels.append({**rest[0], "collapsed": True, "panels": rest[1:]})  # asks nothing until it is opened
    return json.dumps(_board(panels), indent=indent, ensure_ascii=False) + "\n"


def _count(panels: Sequence[Mapping[str, Any]]) -> int:
    """How many there are, those in closed rows included."""
    return len(panels) + sum(len(panel.get("panels", ())) for panel in panels)


def config_map(metadata: Mapping[str, Any], as_json: bool = False) -> str:
    """The same in a ConfigMap, with the label by which Grafana's sidecar finds dashboards."""
    head = {"name": "tfmemwatch-dashboard", **metadata}
    head["labels"] = {"grafana_dashboard": "1", **head.get("labels", {})}
    return text_of({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": head, "data": {"tfmemwatch.json": dashboard(indent=None)},
    }, "dashboard --kubernetes", as_json)  # fmt: skip


def _rest() -> Sequence[Panel]:
    """A panel for every metric of the catalogue that no panel above asks for."""
    asked = " ".join(expr for panel in (*FLEET, *ONE, *OF_SESSIONS, *WATCH) for expr, _ in panel.targets)
    return [_of(metric) for metric in METRICS if metric.name + "{" not in asked]


_OVER_WORKERS = {  # whose sum says nothing
    "tfmemwatch_limit_left_bytes": "min", "tfmemwatch_limit_seconds": "min", "tfmemwatch_level": "min",
    "tfmemwatch_probe_up": "min", "tfmemwatch_last_look_timestamp_seconds": "min",
    "tfmemwatch_level_since_timestamp_seconds": "max", "tfmemwatch_task_info": "max",
}  # fmt: skip


def _of(metric: Metric) -> Panel:
    labels = ("instance", *metric.labels)
    how = _OVER_WORKERS.get(metric.name, metric.adds if metric.adds in ("max", "min") else "sum")
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


def _place(
    panels: List[Dict[str, Any]], title: str, row: Sequence[Panel], where: str, top: int, before: int = 0
) -> int:
    """Put a row and its panels below what is there; says where the next row begins."""
    panels.append({"type": "row", "title": title, "collapsed": False, "id": before + len(panels) + 1, "panels": [],
                   "gridPos": {"h": 1, "w": _WIDTH, "x": 0, "y": top}})  # fmt: skip
    left, top, height = 0, top + 1, 0
    for panel in row:
        if left + panel.width > _WIDTH:
            left, top = 0, top + height
        height = panel.height
        place = {"h": height, "w": panel.width, "x": left, "y": top}
        panels.append(_panel(panel, where, before + len(panels) + 1, place))
        left += panel.width
    return top + height


def _panel(panel: Panel, where: str, number: int, place: Dict[str, int]) -> Dict[str, Any]:
    is_of_now = panel.kind != "timeseries"
    defaults: Dict[str, Any] = {"unit": panel.unit, "custom": _custom(panel)}
    if panel.none:
        defaults["noValue"] = panel.none
    if panel.steps:
        defaults["min"] = 0
        defaults["color"] = {"mode": "palette-classic" if panel.kind == "timeseries" else "thresholds"}
        defaults["thresholds"] = {
            "mode": "absolute",
            "steps": [{"value": value or None, "color": colour} for value, colour in panel.steps],
        }
    if panel.kind == "bargauge" and panel.steps:
        defaults["max"] = 24 * 3600
    shown: Dict[str, Any] = {
        "id": number, "type": panel.kind, "title": panel.title, "description": panel.description, "gridPos": place,
        "datasource": _SOURCE,
        "targets": [
            {
                "refId": chr(65 + index), "datasource": _SOURCE, "expr": _selected(expr, where),
                "legendFormat": legend, "editorMode": "code", "range": not is_of_now, "instant": is_of_now,
                "format": "table" if panel.columns else "time_series",
            }
            for index, (expr, legend) in enumerate(panel.targets)
        ],
        "fieldConfig": {"defaults": defaults, "overrides": _overrides(panel)},
        "options": _OPTIONS["stacked" if panel.stacked else panel.kind],
    }  # fmt: skip
    if panel.columns:
        titles = {name: title for name, title, _ in panel.columns}
        shown["transformations"] = [{"id": "organize", "options": {
            "excludeByName": {name: True for name in ("Time", "Value") if name not in titles},
            "indexByName": {name: index for index, name in enumerate(titles)},
            "renameByName": {name: title for name, title in titles.items() if name != title},
        }}]  # fmt: skip
        shown["options"] = {**shown["options"], "sortBy": [{"displayName": panel.columns[0][1], "desc": True}]}
    return shown


def _selected(expr: str, where: str) -> str:
    """The question about what the variables say."""
    if where in expr:
        return expr
    return re.sub(
        r"(tfmemwatch_\w+\{)(?=(.))", lambda found: found[1] + where + ("" if found[2] == "}" else ", "), expr
    )


def _custom(panel: Panel) -> Dict[str, Any]:
    if panel.columns:
        return {"cellOptions": {"type": "auto", "wrapText": True}}
    if panel.kind != "timeseries":
        return {}
    custom = {
        "drawStyle": "line", "fillOpacity": 30 if panel.stacked else 10, "lineWidth": 1, "showPoints": "auto",
        "axisSoftMin": 0, "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
    }  # fmt: skip
    if panel.steps:
        custom["thresholdsStyle"] = {"mode": "dashed"}
    return custom


_TO_INSTANCE = {
    "title": "This instance alone", "targetBlank": False,
    "url": "/d/tfmemwatch?${datasource:queryparam}&var-one=${__value.raw}&${__url_time_range}",
}  # fmt: skip


def _overrides(panel: Panel) -> List[Dict[str, Any]]:
    """What is shown unlike the rest of its panel: the line of a limit, the width of a column."""
    found: Dict[str, List[Dict[str, Any]]] = {
        title: [{"id": "custom.width", "value": width}] for _, title, width in panel.columns if width
    }
    if panel.links:
        found.setdefault(panel.links, []).append({"id": "links", "value": [_TO_INSTANCE]})
    if panel.stacked:
        found["limit"] = [
            {"id": "custom.stacking", "value": {"mode": "none", "group": "A"}},
            {"id": "custom.fillOpacity", "value": 0},
            {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
            {"id": "color", "value": {"mode": "fixed", "fixedColor": "red"}},
        ]
    return [
        {"matcher": {"id": "byName", "options": title}, "properties": properties} for title, properties in found.items()
    ]


_NOW = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_OPTIONS: Dict[str, Dict[str, Any]] = {
    "timeseries": {
        "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom", "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stacked": {
        "legend": {"showLegend": True, "displayMode": "table", "placement": "right", "calcs": ["lastNotNull"]},
        "tooltip": {"mode": "multi", "sort": "none"},
    },
    "bargauge": {"displayMode": "basic", "orientation": "horizontal", "reduceOptions": _NOW},
    "stat": {"colorMode": "value", "graphMode": "none", "justifyMode": "auto", "textMode": "value",
             "reduceOptions": _NOW},
    "table": {"showHeader": True, "cellHeight": "sm"},
}  # fmt: skip


def _variable(name: str, label: str, query: str, many: bool = True) -> Dict[str, Any]:
    shown = {
        "type": "query", "name": name, "label": label, "datasource": _SOURCE, "refresh": 2, "multi": many,
        "includeAll": many, "sort": 1, "hide": 0, "query": query,
    }  # fmt: skip
    if many:
        shown.update(allValue=".*", current={"text": "All", "value": "$__all", "selected": True})
    return shown


def _board(panels: List[Dict[str, Any]]) -> Dict[str, Any]:
    return {
        "uid": "tfmemwatch", "title": "tfmemwatch", "tags": ["tfmemwatch", "tensorflow"], "schemaVersion": 39,
        "description": "Memory leaks in TensorFlow programs: what grows, at which line, and what to do about it.",
        "editable": True, "refresh": "30s", "timezone": "browser", "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [
            {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "hide": 0,
             "current": {"text": "Prometheus", "value": "default", "selected": True}},
            _variable("namespace", "Namespace", "label_values(tfmemwatch_build_info, namespace)"),
            _variable("pod", "Pod", 'label_values(tfmemwatch_build_info{namespace=~"$namespace"}, pod)'),
            _variable("job", "Job", "label_values(tfmemwatch_build_info{%s}, job)" % _PLACE),
            _variable("instance", "Instance", "label_values(tfmemwatch_build_info{%s}, instance)" % _JOB),
            _variable("one", "One instance", "label_values(tfmemwatch_build_info{%s}, instance)" % _WHERE, False),
            _variable("model", "Model", "label_values(tfmemwatch_model_calls_total{%s}, model)" % _ONE),
        ]},
        "annotations": {"list": [
            {"name": "Leaks found", "enable": True, "datasource": _SOURCE, "iconColor": "red",
             "expr": "max by (job, instance, kind, site, cure) (tfmemwatch_suspect_info{%s})" % _WHERE,
             "titleFormat": "{{kind}} {{site}}", "textFormat": "{{cure}}", "step": "60s"},
        ]},
        "panels": panels,
    }  # fmt: skip
