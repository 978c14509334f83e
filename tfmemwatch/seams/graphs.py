"""What is in a graph: its operations and constants."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, List, Tuple

from ..safety import exit_gate
from .places import find, has


def op_has_attribute(op: str, attribute: str) -> bool:
    """Whether an op of this TensorFlow has an attribute; False where op definitions can't be looked up."""
    if not has("op_defs"):
        return False
    found = find("op_defs")
    definition = found.value(op) if found.attribute == "get" else found.value().get(op)
    return definition is not None and any(attr.name == attribute for attr in definition.attr)


@contextmanager
def operations_of(graph: Any) -> Iterator[List[Any]]:
    """The operations of a graph, whose memory in TensorFlow stays until this ends; none if it has been dismantled.

    TensorFlow asks its C++ with the interpreter let go. Before 2.13 another thread that dismantles the graph meanwhile
    frees what is being read, though all of its operations are held.
    """
    with exit_gate.at_work() as is_allowed:
        memory = getattr(graph, "_scoped_c_graph", None) or getattr(graph, "_c_graph", None)
        try:
            operations = graph.get_operations() if is_allowed else []
        except AttributeError:  # it is being dismantled
            operations = []
        yield operations
        del memory  # not before


def constants(graph: Any, least_bytes: int, most: int = 4000) -> List[Tuple[Any, int]]:
    """The large constants of a graph: the lines that made each, outermost first, and its bytes."""
    with operations_of(graph) as operations:
        sizes = zip(operations, map(constant_bytes, operations[:most]))
        return [(lines_of(operation), size) for operation, size in sizes if size >= least_bytes]


def lines_of(operation: Any) -> Any:
    """The lines that made an operation, outermost first; none for one that was imported, or has been dismantled."""
    return getattr(operation, "traceback", None) or ()


def constant_bytes(operation: Any) -> int:
    """What a constant of a graph weighs; 0 for another operation, and where its shape or size is not known."""
    try:
        if operation.type != "Const":
            return 0
        value = operation.outputs[0]
        return int(value.shape.num_elements() or 0) * int(value.dtype.size or 0)
    except (AttributeError, IndexError):  # TensorFlow has dismantled it
        return 0
