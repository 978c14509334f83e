"""Everything that is counted, one row each: what reports, the README's table and `doctor` read."""

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
    Row("function", "tfmemwatch_live_functions", "alive", "tf.functions", "traces", "tf.functions that have been traced"),
    Row("function_graph", "tfmemwatch_live_traces", "alive", "traces kept", "traces", "Traces that are kept"),
    Row("dataset_graph", "tfmemwatch_live_dataset_functions", "alive", "dataset functions kept", "traces",
        "Functions of datasets that are kept"),
    Row("variable", "tfmemwatch_live_variables", "alive", "variables", "variables", "Variables alive"),
    Row("graph_variable", "tfmemwatch_live_graph_variables", "alive", "graph variables", "variables",
        "Variables alive in graphs of TensorFlow 1"),
    Row("name", "tfmemwatch_variable_names_total", "born", "new variable names", "variables",
        "Variable names never seen before; each leaves a cached kernel"),
    Row("session", "tfmemwatch_open_sessions", "alive", "sessions", "sessions", "Sessions open"),
    Row("session_closed", "tfmemwatch_sessions_closed_total", "born", "sessions closed", "sessions", "Sessions closed"),
    Row("session_dropped", "tfmemwatch_sessions_dropped_total", "born", "sessions collected unclosed", "sessions",
        "Sessions collected without a close"),
    Row("fetch", "tfmemwatch_fetch_lists", "alive", "distinct fetch lists", "sessions",
        "Distinct lists of fetches in open sessions; each keeps executors"),
    Row("graph", "tfmemwatch_live_graphs", "alive", "graphs", "graphs", "Graphs alive"),
    Row("graph_op", "tfmemwatch_operations_added", "alive", "operations added after a run", "graphs",
        "Operations in graphs that were added after a session had run them"),
    Row("model", "tfmemwatch_live_models", "alive", "models", "models", "Keras models alive"),
    Row("compile", "tfmemwatch_compiles_total", "born", "compile() calls", "models", "Calls of Model.compile"),
    Row("optimizer", "tfmemwatch_live_optimizers", "alive", "optimizers", "models", "Optimizers alive"),
    Row("custom_gradient", "tfmemwatch_custom_gradients_total", "born", "custom gradients registered", "gradients",
        "Custom gradients registered; each pins the graph of its trace for ever"),
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
    Gauge("tfmemwatch_memory_bytes", "owner", "Resident memory by owner; the parts sum to it"),
    Gauge("tfmemwatch_limit_bytes", "limit", "Limits of the container, the process and the machine"),
    Gauge("tfmemwatch_limit_left_bytes", "limit", "What is left below each limit"),
    Gauge(
        "tfmemwatch_limit_seconds",
        "limit",
        "Seconds until the limit is reached at the present rate; absent while nothing grows",
    ),
    Gauge("tfmemwatch_device_bytes", "device", "Bytes in use on each device with an allocator of its own"),
)


def table() -> str:
    """The rows as a table for the README."""
    lines = ["| metric | what it counts | probe |", "| --- | --- | --- |"]
    lines += ["| `%s` | %s | %s |" % (row.metric, row.help, row.probe) for row in ROWS]
    lines += ["| `%s%s` | %s | memory |" % (row.metric, row.label and "{%s}" % row.label, row.help) for row in GAUGES]
    return "\n".join(lines)


BY_KIND: Dict[str, Row] = {row.kind: row for row in ROWS}
