"""How one argument is better given, and what TensorFlow then sees in each call."""

from __future__ import annotations

import re
import weakref
from typing import Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from .signatures import Node, key_of, shape_of, widest

_MOST_VARIANTS = 4  # of a string or another value that may well be meant: a mode, a name
_MOST_PARTS = 8  # of a collection that is written out

_STEP = re.compile(r'\["\w+"\]$|\[-?\d+\]$|\.\w+$')
_NUMBERS = frozenset(("int", "float"))
_SCALARS = frozenset(("float16", "float32", "float64", "int32", "int64"))  # of NumPy
_DTYPES = frozenset(
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128".split()
)


class Plan(NamedTuple):
    """How one argument is to be given, and what TensorFlow then sees in each call."""

    code: str
    nodes: Tuple[Optional[Node], ...]
    spec: str = ""
    notes: Tuple[str, ...] = ()


def plan_for(code: str, nodes: Tuple[Optional[Node], ...], floats: str, number: str) -> Plan:
    there = [node for node in nodes if node is not None]
    unchanged = Plan(code, nodes)
    if len(there) < len(nodes):
        return unchanged
    kinds = {node.kind for node in there}
    whats = {node.what for node in there}
    if kinds == {"tensor"} and all(node.token is None for node in there):
        return _tensors(code, there, whats, floats)
    is_number = kinds <= {"tensor", "value"} and whats <= _NUMBERS | _DTYPES
    if is_number and all(node.token is None or node.kind == "value" for node in there):
        return _numbers(code, there, whats, floats, number)
    if kinds == {"value"}:
        return _strings(code, there) if whats == {"str"} else unchanged
    if len(kinds) == 1 and kinds <= {"object", "function", "method", "partial"}:
        return _objects(code, there, whats)
    if len(kinds) == 1 and kinds <= {"list", "tuple", "dict", "fields"}:
        return _collections(code, there, floats, number)
    return unchanged


def left_alone(code: str, nodes: Tuple[Optional[Node], ...], floats: str) -> Plan:
    """As it is; where all are tensors alike in dtype, with their spec."""
    plan = plan_for(code, nodes, floats, "int")
    return plan if plan.code == code and not plan.notes else Plan(code, nodes)


def _each(node: Node, times: int) -> Tuple[Node, ...]:
    return (node,) * times


def _tensors(code: str, nodes: List[Node], whats: Set[str], floats: str) -> Plan:
    if len(whats) == 1:
        (dtype,) = whats
    elif whats <= _DTYPES:
        dtype = floats if any("float" in what for what in whats) else nodes[0].what
        code = "tf.cast(%s, tf.%s)" % (code, dtype)
        nodes = [node._replace(what=dtype) for node in nodes]
    else:
        return Plan(code, tuple(nodes))
    shape = widest([node.shape for node in nodes])
    text = "None" if shape is None else shape_of(shape)
    return Plan(code, tuple(nodes), "tf.TensorSpec(%s, tf.%s)" % (text, dtype))


def _numbers(code: str, nodes: List[Node], whats: Set[str], floats: str, number: str) -> Plan:
    """Python numbers that vary, or that come in place of tensors."""
    if len({key_of(node) for node in nodes}) == 1:
        return Plan(code, tuple(nodes))
    tensors = [node for node in nodes if node.kind == "tensor"]
    if tensors:
        dtypes = {node.what for node in tensors}
        dtype = tensors[0].what if len(dtypes) == 1 else floats
        make = "tf.convert_to_tensor" if len(dtypes) == 1 else "tf.cast"
    else:
        dtype = "int32" if whats == {"int"} and number == "int" else floats
        make = "tf.constant"
        if dtype in _SCALARS:  # of each Python number that it makes a tensor of, TensorFlow keeps a copy
            made = [Node("tensor", dtype, ())] * len(nodes)
            return _tensors("tf.constant(np.%s(%s))" % (dtype, code), made, {dtype}, floats)
    made = [Node("tensor", dtype, node.shape if node.kind == "tensor" else ()) for node in nodes]
    return _tensors("%s(%s, tf.%s)" % (make, code, dtype), made, {dtype}, floats)


def _strings(code: str, nodes: List[Node]) -> Plan:
    if len({node.token for node in nodes}) <= _MOST_VARIANTS:
        return Plan(code, tuple(nodes))
    return _tensors("tf.constant(%s)" % code, [Node("tensor", "string", ())] * len(nodes), {"string"}, "")


def _objects(code: str, nodes: List[Node], whats: Set[str]) -> Plan:
    """Objects that are made anew and are alike: one will do."""
    distinct = {id(node.token) if isinstance(node.token, weakref.ref) else node.token for node in nodes}
    alike = {node.like for node in nodes}
    if len(distinct) == 1 or len(whats) > 1 or (nodes[0].kind == "object" and (len(alike) > 1 or None in alike)):
        return Plan(code, tuple(nodes))
    note = "# make %s (%s) once, before the loop, and pass the same one each time" % (code, nodes[0].what)
    return Plan(code, _each(nodes[0], len(nodes)), notes=(note,))


def _collections(code: str, nodes: List[Node], floats: str, number: str) -> Plan:
    first = nodes[0]
    steps = [step for step, _ in first.parts]
    if any([step for step, _ in node.parts] != steps or node.what != first.what for node in nodes):
        return (
            _stacked(code, nodes, floats)
            if {node.kind for node in nodes} <= {"list", "tuple"}
            else Plan(code, tuple(nodes))
        )
    plans = [
        plan_for(code + step, tuple(node.parts[index][1] for node in nodes), floats, number)
        for index, step in enumerate(steps)
    ]
    made = [
        node._replace(parts=tuple((step, plan.nodes[index]) for step, plan in zip(steps, plans)))
        for index, node in enumerate(nodes)
    ]
    changed = [(step, plan) for step, plan in zip(steps, plans) if plan.code != code + step]
    is_signed = bool(plans) and all(plan.spec for plan in plans) and first.kind != "fields"
    spec = _together(first.kind, steps, [plan.spec for plan in plans]) if is_signed else ""
    notes = tuple(note for plan in plans for note in plan.notes)
    if changed:
        if first.kind in ("list", "tuple") and len(steps) > _MOST_PARTS:
            return Plan(code, tuple(nodes))
        if not all(map(_STEP.match, steps)):
            return Plan(code, tuple(nodes))  # a key that can't be written down
        code = _REBUILT[first.kind](code, steps, plans)
    return Plan(code, tuple(made), spec, notes)


def _rebuilt_dict(code: str, steps: List[str], plans: List[Plan]) -> str:
    changed = [(step, plan) for step, plan in zip(steps, plans) if plan.code != code + step]
    return "{**%s, %s}" % (code, ", ".join("%s: %s" % (step[1:-1], plan.code) for step, plan in changed))


def _rebuilt_fields(code: str, steps: List[str], plans: List[Plan]) -> str:
    changed = [(step, plan) for step, plan in zip(steps, plans) if plan.code != code + step]
    return "%s._replace(%s)" % (code, ", ".join("%s=%s" % (step[1:], plan.code) for step, plan in changed))


def _rebuilt_list(code: str, steps: List[str], plans: List[Plan]) -> str:
    return "[%s]" % ", ".join(plan.code for plan in plans)


def _rebuilt_tuple(code: str, steps: List[str], plans: List[Plan]) -> str:
    return "(%s,)" % ", ".join(plan.code for plan in plans)


_REBUILT: Dict[str, Callable[[str, List[str], List[Plan]], str]] = {
    "dict": _rebuilt_dict, "fields": _rebuilt_fields, "list": _rebuilt_list, "tuple": _rebuilt_tuple,
}  # fmt: skip


def _together(kind: str, steps: List[str], specs: List[str]) -> str:
    if kind == "dict":
        return "{%s}" % ", ".join("%s: %s" % (step[1:-1], spec) for step, spec in zip(steps, specs))
    return ("[%s]" if kind == "list" else "(%s,)") % ", ".join(specs)


def _stacked(code: str, nodes: List[Node], floats: str) -> Plan:
    """A list whose length varies: one tensor with a dimension for its items."""
    items = [part for node in nodes for _, part in node.parts]
    kinds, whats = {item.kind for item in items}, {item.what for item in items}
    if kinds == {"value"} and whats <= _NUMBERS:
        dtype = "int32" if whats == {"int"} else floats
        made = [Node("tensor", dtype, (len(node.parts),)) for node in nodes]
        return _tensors("tf.constant(%s, tf.%s)" % (code, dtype), made, {dtype}, floats)
    shapes = {item.shape for item in items}
    if kinds == {"tensor"} and len(whats) == 1 and len(shapes) == 1 and None not in shapes:
        inner = items[0].shape or ()
        made = [Node("tensor", items[0].what, (len(node.parts), *inner)) for node in nodes]
        return _tensors("tf.stack(%s)" % code, made, whats, floats)
    return Plan(code, tuple(nodes))
