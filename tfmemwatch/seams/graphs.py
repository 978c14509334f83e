"""What is in a graph: its operations and constants."""

from __future__ import annotations

from typing import Any, List, Tuple

from .places import find, has


def op_has_attribute(op: str, attribute: str) -> bool:
    """Whether an op of this TensorFlow has an attribute; False where op definitions can't be looked up."""
    if not has("op_defs"):
        return False
    found = find("op_defs")
    definition = found.value(op) if found.attribute == "get" else found.value().get(op)
    return definition is not None and any(attr.name == attribute for attr in definition.attr)


def constants(graph: Any, least_bytes: int, most: int = 4000) -> List[Tuple[Any, int]]:
    """The large constants of a graph: the lines that made each, outermost first, and its bytes."""
    found = []
    try:
        operations = graph.get_operations()[:most]
    except AttributeError:  # TensorFlow has dismantled it
        return []
    for operation in operations:
        if operation.type == "Const":
            shape, dtype = operation.outputs[0].shape, operation.outputs[0].dtype
            size = (shape.num_elements() or 0) * dtype.size
            if size >= least_bytes:
                found.append((operation.traceback, int(size)))
    return found


def constant_bytes(operation: Any) -> int:
    """What a constant of a graph weighs; 0 where its shape or size is not known."""
    value = operation.outputs[0]
    return int(value.shape.num_elements() or 0) * int(value.dtype.size or 0)
