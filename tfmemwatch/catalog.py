"""Everything that is counted, one row each: read by reports, metrics, dashboards, the documentation's tables and `doctor`."""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple


class Row(NamedTuple):
    """One kind of thing, how it is read, and who sees it."""

    kind: str  # as in the ledger
    metric: str
    reading: str  # "alive": a level; "born": a count that only rises
    title: str  # in a report
    probe: str
    help: str


ROWS: Tuple[Row, ...] = (
    Row("trace", "tfmemwatch_traces_total", "born", "first traces", "traces", "First traces of tf.functions"),
    Row("retrace", "tfmemwatch_retraces_total", "born", "retraces", "traces", "Traces of a tf.function beyond its first"),
    Row("function", "tfmemwatch_live_functions", "alive", "tf.functions", "traces", "tf.functions alive that have been traced"),
    Row("function_graph", "tfmemwatch_live_traces", "alive", "traces kept", "traces", "Traces kept in memory"),
    Row("dataset_graph", "tfmemwatch_live_dataset_functions", "alive", "dataset functions kept", "traces",
        "Dataset functions kept in memory"),
    Row("xla_build", "tfmemwatch_xla_builds_total", "born", "XLA builds", "builds",
        "Executables that XLA has built for tf.functions with jit_compile, one for each shape; none is ever freed"),
    Row("variable", "tfmemwatch_live_variables", "alive", "variables", "variables", "Variables alive"),
    Row("graph_variable", "tfmemwatch_live_graph_variables", "alive", "graph variables", "variables",
        "Variables alive in graphs of TensorFlow 1"),
    Row("name", "tfmemwatch_variable_names_total", "born", "new variable names", "variables",
        "Variable names never seen before; each leaves a cached kernel"),
    Row("session", "tfmemwatch_open_sessions", "alive", "sessions", "sessions", "Sessions open"),
    Row("session_closed", "tfmemwatch_sessions_closed_total", "born", "sessions closed", "sessions", "Sessions closed"),
    Row("session_dropped", "tfmemwatch_sessions_dropped_total", "born", "sessions collected unclosed", "sessions",
        "Sessions garbage-collected without a close"),
    Row("fetch", "tfmemwatch_fetch_lists", "alive", "distinct fetch lists", "sessions",
        "Distinct lists of fetches in open sessions; each keeps executors"),
    Row("graph", "tfmemwatch_live_graphs", "alive", "graphs", "graphs", "Graphs alive"),
    Row("graph_op", "tfmemwatch_operations_added", "alive", "operations added after a run", "graphs",
        "Operations added to graphs after a session had run them"),
    Row("model", "tfmemwatch_live_models", "alive", "models", "models", "Keras models alive"),
    Row("compile", "tfmemwatch_compiles_total", "born", "compile() calls", "models", "Calls of Model.compile"),
    Row("optimizer", "tfmemwatch_live_optimizers", "alive", "optimizers", "models", "Optimizers alive"),
    Row("custom_gradient", "tfmemwatch_custom_gradients_total", "born", "custom gradients registered", "gradients",
        "Custom gradients registered; each keeps the graph of its trace alive for ever"),
    Row("iterator", "tfmemwatch_live_iterators", "alive", "dataset iterators", "datasets", "Dataset iterators alive"),
    Row("cache_dataset", "tfmemwatch_memory_caches", "alive", "datasets cached in memory", "datasets",
        "Datasets that cache in memory"),
    Row("tape", "tfmemwatch_live_tapes", "alive", "gradient tapes", "tapes", "Gradient tapes alive"),
    Row("pyfunc", "tfmemwatch_live_pyfuncs", "alive", "py_functions", "pyfuncs", "Functions in the py_function registry"),
    Row("pyfunc_token", "tfmemwatch_pyfunc_tokens_total", "born", "eager py_function calls", "pyfuncs",
        "Calls of py_function in eager mode; each leaves a cached kernel"),
    Row("writer", "tfmemwatch_open_writers", "alive", "summary writers", "writers", "Summary writers open"),
    Row("writer_closed", "tfmemwatch_writers_closed_total", "born", "summary writers closed", "writers",
        "Summary writers closed"),
    Row("seed", "tfmemwatch_random_seeds_total", "born", "new random seeds", "caches",
        "Seeds of eager random ops never seen before; each leaves a cached kernel"),
    Row("queue", "tfmemwatch_queues_total", "born", "queues", "caches", "Queues made; each leaves a cached kernel"),
    Row("table", "tfmemwatch_tables_total", "born", "lookup tables", "caches", "Lookup tables made; none is ever freed"),
)  # fmt: skip


class Gauge(NamedTuple):
    """One level that is read and not counted: `Watch.gauges()` has it, by the value of its label."""

    metric: str
    label: str  # by which it is told apart; empty where it is one number
    help: str


GAUGES: Tuple[Gauge, ...] = (
    Gauge("tfmemwatch_resident_bytes", "", "Resident memory"),
    Gauge(
        "tfmemwatch_proportional_bytes",
        "",
        "Resident memory, each page that processes share divided among them: what adds up over workers",
    ),
    Gauge("tfmemwatch_memory_bytes", "owner", "Resident memory by owner; the parts add up to the whole"),
    Gauge("tfmemwatch_limit_bytes", "limit", "Memory limits of the container, the process and the machine"),
    Gauge("tfmemwatch_limit_left_bytes", "limit", "Bytes left below each limit"),
    Gauge(
        "tfmemwatch_limit_seconds",
        "limit",
        "Seconds until the limit is reached at the present rate; absent while nothing grows",
    ),
    Gauge("tfmemwatch_device_bytes", "device", "Bytes in use on each device with an allocator of its own"),
)


class Metric(NamedTuple):
    """What is exported under one name. `adds` says how the values of several workers are combined."""

    name: str
    type: str  # "counter" or "gauge"
    help: str
    labels: Tuple[str, ...]
    adds: str  # "sum"; "max"; "min"; "worker": each worker by itself
    kinds: Tuple[str, ...] = ()  # of the ledger, whose `field` it is by line; none where something else is read
    field: str = ""

    @property
    def unit(self) -> str:
        """The unit that the name ends in, or nothing."""
        word = self.name[: -len("_total")] if self.name.endswith("_total") else self.name
        word = word.rsplit("_", 1)[-1]
        return word if word in ("bytes", "seconds") else ""


_NAMED = frozenset(
    ("trace", "retrace", "function", "function_graph", "dataset_graph", "xla_build")
)  # the note is the function


def _labels(kind: str) -> Tuple[str, ...]:
    return ("function", "site") if kind in _NAMED else ("site",)


def _metric(row: Row) -> Metric:
    kind = "counter" if row.reading == "born" else "gauge"
    return Metric(row.metric, kind, row.help, _labels(row.kind), "sum", (row.kind,), row.reading)


def _more(name: str, help: str, kind: str, field: str, *, also: str = "") -> Metric:
    """Another number of what the ledger counts already."""
    kinds = (kind, also) if also else (kind,)
    return Metric(name, "counter" if name.endswith("_total") else "gauge", help, _labels(kind), "sum", kinds, field)


def _gauge(row: Gauge) -> Metric:
    adds = "min" if row.metric == "tfmemwatch_limit_bytes" else "worker"
    return Metric(row.metric, "gauge", row.help, (row.label,) if row.label else (), adds)


def _other(name: str, help: str, *labels: str, adds: str = "sum") -> Metric:
    return Metric(name, "counter" if name.endswith("_total") else "gauge", help, labels, adds)


METRICS: Tuple[Metric, ...] = (  # in the order of /metrics: what somebody looks for who reads it comes first
    _other("tfmemwatch_headline", "The word with which a report would begin now: leak, growing, memory rises, clean or not watched", "word", adds="max"),
    _other("tfmemwatch_suspect_info", "An open leak: its line, cause and cure", "kind", "site", "cause", "cure", adds="max"),
    _other("tfmemwatch_suspect_growth", "How many more leaking things there are than when the leak began", "kind", "site"),
    _other("tfmemwatch_suspect_growth_per_hour", "How many leaking things are added in an hour", "kind", "site"),
    _other("tfmemwatch_suspect_bytes", "Bytes that an open leak has kept so far, as far as known", "kind", "site"),
    _other("tfmemwatch_suspect_bytes_per_hour", "Bytes that an open leak keeps more in an hour, as far as known", "kind", "site"),
    _other("tfmemwatch_filling_bytes", "Bytes kept so far by what grows and may still be filling: no leak yet", "kind", "site"),
    _other("tfmemwatch_findings", "Open leaks", "kind"),
    _other("tfmemwatch_leaks_found_total", "Leaks found since the start", "kind"),
    *map(_metric, ROWS),
    _other("tfmemwatch_retrace_causes_total", "Retraces of tf.functions, by argument and cause", "function", "argument", "cause", "site"),
    _more("tfmemwatch_tracing_seconds_total", "Time spent in tracing", "trace", "seconds", also="retrace"),
    _more("tfmemwatch_tracing_bytes_total", "Resident memory gained during traces", "trace", "bytes", also="retrace"),
    _more("tfmemwatch_xla_build_seconds_total", "Time spent in calls in which XLA built an executable", "xla_build", "seconds"),
    _more("tfmemwatch_xla_build_bytes_total", "Memory in use gained in calls in which XLA built an executable", "xla_build", "bytes"),
    _more("tfmemwatch_variable_bytes", "Bytes of the variables alive", "variable", "live_bytes"),
    _more("tfmemwatch_variables_made_total", "Variables made", "variable", "born"),
    _more("tfmemwatch_sessions_opened_total", "Sessions opened", "session", "born"),
    _more("tfmemwatch_graphs_made_total", "Graphs made", "graph", "born"),
    _more("tfmemwatch_models_made_total", "Keras models made", "model", "born"),
    _other("tfmemwatch_oldest_session_seconds", "Age of the oldest open session", "site", adds="max"),
    _other("tfmemwatch_model_calls_total", "Outermost calls of living models", "model", "method"),
    _other("tfmemwatch_model_grown_bytes", "Memory in use gained over the measured calls of living models", "model", "method"),
    _other("tfmemwatch_model_weight_bytes", "Bytes of the weights of living models", "model"),
    _other("tfmemwatch_model_variables", "Variables of living models", "model"),
    _other("tfmemwatch_unloaded_variables", "Variables alive that belonged to models which are gone, and to no living model", "model"),
    *map(_gauge, GAUGES),
    _other("tfmemwatch_run_graph_operations", "Operations in the graphs that sessions have run"),
    _other("tfmemwatch_registered_functions", "Functions registered in TensorFlow's runtime"),
    _other("tfmemwatch_orphan_functions", "Registered functions whose owner is gone; counted at most every ten minutes"),
    _other("tfmemwatch_python_blocks", "Small blocks that Python has allocated", adds="worker"),
    _other("tfmemwatch_probe_up", "Whether a probe is on", "probe", adds="worker"),
    _other("tfmemwatch_level", "How closely the watch looks: 0 off, 1 counts, 2 sites, 3 stacks; `because` says whether it was set or lowered by the budget", "because", adds="worker"),
    _other("tfmemwatch_level_since_timestamp_seconds", "Unix time of the last change of the level", adds="worker"),
    _other("tfmemwatch_own_seconds_total", "Processor time of the watch's thread"),
    _other("tfmemwatch_own_bytes", "Bytes in the watch's own tables, an estimate"),
    _other("tfmemwatch_looks_total", "Looks that the watch has taken at all counts"),
    _other("tfmemwatch_last_look_timestamp_seconds", "Unix time of the watch's last look", adds="worker"),
    _other("tfmemwatch_folded_events_total", "Events counted under other lines because a table was full"),
    _other("tfmemwatch_folded_labels", "Lines and functions that are exported as other", "metric", adds="max"),
    _other("tfmemwatch_failures_total", "Times that a part of the watch itself failed", "part"),
    _other("tfmemwatch_build_info", "Versions of what runs in the process", "version", "tensorflow", "keras", "python", "allocator", adds="max"),
    _other("tfmemwatch_task_info", "The task of TF_CONFIG", "task_type", "task_index", adds="worker"),
)  # fmt: skip
BY_NAME: Dict[str, Metric] = {metric.name: metric for metric in METRICS}
_ADDED = {"sum": "summed", "max": "the largest", "min": "the least", "worker": "by worker"}


def table() -> str:
    """What is counted, as a table for the documentation."""
    lines = ["| metric | what it counts | probe |", "| --- | --- | --- |"]
    lines += ["| `%s` | %s | %s |" % (row.metric, row.help, row.probe) for row in ROWS]
    lines += ["| `%s%s` | %s | memory |" % (row.metric, row.label and "{%s}" % row.label, row.help) for row in GAUGES]
    return "\n".join(lines)


def metrics_table() -> str:
    """What else is exported, and how each metric adds up over workers, as a table for the documentation."""
    counted = {row.metric for row in ROWS} | {gauge.metric for gauge in GAUGES}
    lines = ["| metric | labels | what it says | over workers |", "| --- | --- | --- | --- |"]
    lines += [
        "| `%s` | %s | %s | %s |" % (metric.name, ", ".join(metric.labels), metric.help, _ADDED[metric.adds])
        for metric in METRICS
        if metric.name not in counted
    ]
    return "\n".join(lines)


BY_KIND: Dict[str, Row] = {row.kind: row for row in ROWS}
