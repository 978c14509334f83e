"""What a trace is for: the signature it was asked for, and the one it was made for."""

from __future__ import annotations

from typing import Any, Dict, Hashable, List, Mapping, NamedTuple, Optional, Tuple

from .reader import HASHED, Reader
from .signatures import Node, Signature, leaves

# What of TensorFlow's context is told as what; the rest as «another context».
_CONTEXT = {
    "parent_graph": "graph",
    "device_functions": "device",
    "colocation_stack": "colocation",
    "in_cross_replica_context": "replica",
    "variable_policy": "policy",
    "xla_context_id": "xla",
    "scope_type": "scope",
}


class Trace(NamedTuple):
    """What was asked for, and what was traced for it: where TensorFlow generalizes that is more."""

    asked: Signature
    made: Signature


def signature(variables: Mapping[str, Any], names: Tuple[str, ...], shows: bool) -> Optional[Trace]:
    """What a trace is for, from the variables of the function of TensorFlow's that asks for it."""
    lookup, target = variables.get("lookup_func_type"), variables.get("target_func_type")
    context = _context(variables.get("current_func_context") or variables.get("cache_key"))
    if lookup is not None:
        asked = Signature(_typed(lookup, shows), context)
        same = target is None or target is lookup
        return Trace(asked, asked if same else Signature(_typed(target, shows), context))
    args, kwargs = variables.get("args"), variables.get("kwargs")
    if type(args) is not tuple:
        return None
    reader = Reader(shows)
    rows = [
        (names[index] if index < len(names) else "args_%d" % (index - len(names)), reader.of_value(value))
        for index, value in enumerate(args)
    ]
    rows += [(str(name), reader.of_value(value)) for name, value in sorted((kwargs or {}).items())]
    asked = Signature(tuple(rows), context)
    return Trace(asked, asked)


def tensor_paths(kind: Any) -> List[str]:
    """The paths of the tensors in a function's type, in the order in which a trace gets them; empty without a type."""
    if kind is None:
        return []
    try:
        rows = leaves([(name, Reader(False).of_type(one.annotation)) for name, one in kind.parameters.items()])
    except Exception:
        return []  # a type that the program has defined may raise
    return [path for path, node in rows if node.kind == "tensor"]


def _typed(kind: Any, shows: bool) -> Tuple[Tuple[str, Node], ...]:
    reader = Reader(shows)
    rows = [(name, reader.of_type(one.annotation)) for name, one in kind.parameters.items()]
    captures = getattr(kind, "captures", None)
    if captures:
        rows += [("captured %s" % name, reader.of_type(one)) for name, one in captures.items()]
    return tuple(rows)


def _context(context: Any) -> Tuple[Tuple[str, Hashable], ...]:
    """Of a named tuple that holds another, as every TensorFlow that has one makes it."""
    kind = type(context)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = _fields_of(kind)
    found: List[Tuple[str, Hashable]] = []
    for index, name, said in fields:
        value = context[index]
        if not said:
            found += _context(value)
        else:
            is_plain = value is None or value == () or id(type(value)) in HASHED
            found.append((said, value if is_plain else _context_token(name, value)))
    return tuple(found)


def _fields_of(kind: Any) -> List[Tuple[int, str, str]]:
    """Those of a named tuple that count: where each stands, and what it is told as; nothing for the one inside."""
    names = enumerate(getattr(kind, "_fields", ()))
    return [(at, name, _CONTEXT.get(name, "")) for at, name in names if name == "context" or name in _CONTEXT]


_FIELDS: Dict[Any, List[Tuple[int, str, str]]] = {}  # of the two or three classes that there are


def _context_token(name: str, value: Any) -> Hashable:
    if name == "parent_graph":
        return id(value)  # TensorFlow's own cache keeps it
    return tuple(map(_device, value)) if isinstance(value, tuple) else id(value)


def _device(one: Any) -> Hashable:
    if type(one) is str:
        return one
    spec = getattr(one, "_spec", None)  # TensorFlow merges devices in objects of its own
    return str(spec) if type(spec).__module__.startswith("tensorflow") else id(one)
