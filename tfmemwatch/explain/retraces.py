"""How many traces TensorFlow makes of some calls."""

from __future__ import annotations

from typing import Dict, Hashable, List, Optional, Sequence, Tuple

from .signatures import Node, Signature, is_within, key_of, leaves, widest

_Arguments = Tuple[Tuple[str, Node], ...]


def traces_of(calls: Sequence[Signature], relax: str = "") -> int:
    """How many traces there are after these calls, with an option of TensorFlow's that leaves shapes open."""
    tables: Dict[Hashable, List[_Arguments]] = {}
    for call in calls:
        known = tables.setdefault(call.context, [])
        if any(_accepts(trace, call.arguments) for trace in known):
            continue
        made = call.arguments
        # The older option passes over the first trace, and joins with those of the same ranks only.
        for trace in known if relax == "reduce_retracing" else known[1:] if relax else ():
            joined = _joined(made, trace)
            if joined is not None and (relax == "reduce_retracing" or _ranks(joined) == _ranks(made)):
                made = joined
        known.append(made)
    return sum(map(len, tables.values()))


def _ranks(arguments: _Arguments) -> List[int]:
    return [-1 if node.shape is None else len(node.shape) for _, node in leaves(arguments)]


def _accepts(trace: _Arguments, call: _Arguments) -> bool:
    return len(trace) == len(call) and all(
        name == other and _fits(wide, node) for (name, wide), (other, node) in zip(trace, call)
    )


def _fits(wide: Node, node: Node) -> bool:
    if wide.kind != node.kind or wide.what != node.what or len(wide.parts) != len(node.parts):
        return False
    if wide.kind in ("tensor", "spec"):
        return is_within(node.shape, wide.shape) and wide.token == node.token
    return _is_alike(wide, node) and all(
        step == other and _fits(part, one) for (step, part), (other, one) in zip(wide.parts, node.parts)
    )


def _is_alike(one: Node, other: Node) -> bool:
    """Whether TensorFlow takes two nodes for the same, their parts aside."""
    return key_of(one._replace(parts=())) == key_of(other._replace(parts=()))


def _joined(call: _Arguments, trace: _Arguments) -> Optional[_Arguments]:
    """What fits both, where it is for shapes only that they differ."""
    if [name for name, _ in call] != [name for name, _ in trace]:
        return None
    rows = []
    for (name, one), (_, other) in zip(call, trace):
        node = _joined_nodes(one, other)
        if node is None:
            return None
        rows.append((name, node))
    return tuple(rows)


def _joined_nodes(one: Node, other: Node) -> Optional[Node]:
    if one.kind != other.kind or one.what != other.what:
        return None
    if one.kind == "tensor":
        return one._replace(shape=widest([one.shape, other.shape])) if one.token == other.token else None
    if not _is_alike(one, other) or [step for step, _ in one.parts] != [step for step, _ in other.parts]:
        return None
    parts = []
    for (step, part), (_, counterpart) in zip(one.parts, other.parts):
        node = _joined_nodes(part, counterpart)
        if node is None:
            return None
        parts.append((step, node))
    return one._replace(parts=tuple(parts))
