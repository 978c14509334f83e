"""How growth is told: a table of stories, the deepest cause first."""

from __future__ import annotations

from typing import FrozenSet, NamedTuple, Tuple

# What is left behind: more of it means more memory. Everything else that is counted only explains.
TAKES_MEMORY: FrozenSet[str] = frozenset(
    "variable session graph graph_op function_graph dataset_graph iterator tape writer pyfunc pyfunc_token "
    "custom_gradient name seed queue table fetch model xla_build".split()
)
EXPLAINS: FrozenSet[str] = frozenset(("model_made", "compile", "optimizer_made", "retrace", "graph_variable"))

# Where these explain growth, the cause names what makes things: the number says which things it counts.
MAKERS = ("model_made", "optimizer_made", "compile")


class Story(NamedTuple):
    """How growth is told: what grows, what explains it, and what else is then no story of its own."""

    advice: str
    grows: FrozenSet[str]
    because: str  # the explaining event whose line is the culprit; "" where the growth's own line is
    absorbs: FrozenSet[str]
    unless: FrozenSet[str] = frozenset()  # kinds that, while they climb, are about to explain it


def _set(words: str) -> FrozenSet[str]:
    return frozenset(words.split())


_ALL = TAKES_MEMORY - {"session"}
_GRAPH = _set("graph graph_op fetch pyfunc")
STORIES: Tuple[Story, ...] = (  # the deepest cause first
    Story("session", _set("session"), "", _GRAPH | _set("function_graph")),
    Story("model", _set("name graph_op graph_variable variable model"), "model_made", _ALL),
    Story("recompile", _set("function_graph custom_gradient"), "compile", _ALL),
    Story("retrace", _set("function_graph"), "retrace", _ALL - _set("iterator table queue seed")),
    Story("executable", _set("xla_build"), "", _set("xla_build")),
    Story("custom_gradient", _set("custom_gradient function_graph"), "custom_gradient", _ALL),
    Story("function_library", _set("function_graph"), "", _ALL - _set("iterator table queue seed")),
    Story("graph_variable", _set("graph_op"), "graph_variable", _GRAPH),
    Story("graph_op", _set("graph_op"), "", _GRAPH),
    Story("graph", _set("graph"), "", _GRAPH),
    Story("kept_optimizer", _set("variable"), "optimizer_made", _set("variable name")),
    Story("variable", _set("variable"), "", _set("variable name"), _set("function_graph")),
    Story("iterator", _set("iterator"), "", _set("iterator dataset_graph pyfunc")),
    Story("tape", _set("tape"), "", _set("tape")),
    Story("pyfunc_token", _set("pyfunc_token"), "", _set("pyfunc_token pyfunc")),
    Story("pyfunc", _set("pyfunc"), "", _set("pyfunc dataset_graph")),
    Story("dataset_graph", _set("dataset_graph"), "", _set("dataset_graph")),
    Story("writer", _set("writer"), "", _set("writer")),
    Story("optimizer", _set("name"), "optimizer_made", _set("name")),
    Story("table", _set("table"), "", _set("table name")),
    Story("name", _set("name"), "", _set("name")),
    Story("queue", _set("queue"), "", _set("queue")),
    Story("seed", _set("seed"), "", _set("seed")),
    Story("fetch", _set("fetch"), "", _set("fetch"), _set("graph_op graph session")),
)
