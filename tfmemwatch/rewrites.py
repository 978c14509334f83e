"""What to write instead: code for the user's own function, tried on the calls that were seen."""

from __future__ import annotations

import re
import weakref
from typing import Callable, Dict, FrozenSet, Hashable, List, NamedTuple, Optional, Sequence, Set, Tuple

from .signatures import Node, Shape, Signature, is_within, key_of, leaves, shape_of

_MOST_VARIANTS = 4  # of a string or another value that may well be meant: a mode, a name
_MOST_PARTS = 8  # of a collection that is written out
_MOST_SHORT = 100  # characters of code in a log
LAMBDA = "<lambda>"
_STEP = re.compile(r'\["\w+"\]$|\[-?\d+\]$|\.\w+$')
_NUMBERS = frozenset(("int", "float"))
_SCALARS = frozenset(("float16", "float32", "float64", "int32", "int64"))  # of NumPy
_DTYPES = frozenset(
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128".split()
)


_Arguments = Tuple[Tuple[str, Node], ...]


class Target(NamedTuple):
    """The function that is to be written anew."""

    name: str
    parameters: Tuple[str, ...]
    relax: str = "reduce_retracing"  # what this TensorFlow calls it; nothing where it counts otherwise
    method: bool = False
    options: Tuple[str, ...] = ()  # that its decorator has, and keeps
    computed: FrozenSet[str] = frozenset()  # parameters with which is computed, not counted or indexed
    plain: FrozenSet[str] = frozenset()  # and those that must stay Python values
    declared: str = ""  # all parameters, as its `def` has them
    rest: str = ""  # of these the one with a star


class Rewrite(NamedTuple):
    """Code, and how many traces it makes of those that there were."""

    code: str
    before: int
    after: int
    short: str = ""  # the same in a line, for a log; nothing where it would be long


class _Plan(NamedTuple):
    """How one argument is to be given, and what TensorFlow then sees in each call."""

    code: str
    nodes: Tuple[Optional[Node], ...]
    spec: str = ""
    notes: Tuple[str, ...] = ()


def rewrite(target: Target, seen: Sequence[Signature], is_all: bool = True) -> Optional[Rewrite]:
    """The first that makes one trace of all calls, or else fewest; nothing where none helps."""
    before = len(seen)
    if before < 2:
        return None
    traces = "%d traces" % before if is_all else "the first %d traces" % before
    names = _names(target, seen)
    calls = [dict(one.arguments) for one in seen]
    floats = _float_dtype(seen)
    plans = {}
    for name in names:
        nodes = tuple(call.get(name) for call in calls)
        word = "int" if name not in target.computed else "float"
        is_fixed = name in target.plain or _is_of_rest(target, name)
        plans[name] = _unchanged(name, nodes, floats) if is_fixed else _plan(name, nodes, floats, word)
    after = [
        one._replace(arguments=tuple((name, node) for name, node in _row(names, plans, index)))
        for index, one in enumerate(seen)
    ]
    contexts = len({one.context for one in seen})
    plain = _count(after)
    relaxed = _count(after, target.relax)
    is_signed = tuple(names) == target.parameters and all(plan.spec for plan in plans.values())
    shapes_vary = relaxed < plain
    signature = "input_signature=[%s]" % ", ".join(plans[name].spec for name in names)
    is_signed = is_signed and contexts < before
    if is_signed:
        found = [_decorated(target, signature), _called(target, plans, names, traces, contexts)]
        total = contexts
    elif relaxed < before:
        found = [_decorated(target, target.relax + "=True")] if shapes_vary else []
        found.append(_called(target, plans, names, traces, relaxed))
        total = relaxed
    else:
        return None
    notes = [note for name in names for note in plans[name].notes]
    notes += [_batches(name, plans[name]) for name in names]
    changes = ["`%s`" % plans[name].code for name in names if plans[name].code != name]
    changes += [note[2:].split(",")[0] for name in names for note in plans[name].notes]
    options = [("", plain)] if plain == total else [("`%s`" % signature, total)] if is_signed else []
    if target.relax and relaxed < plain:
        options.append(("`%s=True`" % target.relax, relaxed))
    short = next(filter(None, (_short([option, *changes], traces, count) for option, count in options)), "")
    return Rewrite("\n".join([*filter(None, notes), *found]), before, total, short)


def _short(parts: Sequence[str], traces: str, after: int) -> str:
    """Some parts of a rewrite as one line; nothing where that would be long."""
    text = " and ".join(filter(None, parts))
    return "%s (%s become %d)" % (text, traces, after) if 0 < len(text) <= _MOST_SHORT else ""


def _names(target: Target, seen: Sequence[Signature]) -> List[str]:
    """All arguments that were given, in the function's own order."""
    given: Dict[str, None] = {}
    for one in seen:
        given.update((name, None) for name, _ in one.arguments if not name.startswith("captured "))
    order = {name: index for index, name in enumerate(target.parameters)}
    return sorted(given, key=lambda name: order.get(name, len(order)))


def _row(names: Sequence[str], plans: Dict[str, _Plan], index: int) -> List[Tuple[str, Node]]:
    rows = []
    for name in names:
        node = plans[name].nodes[index]
        if node is not None:
            rows.append((name, node))
    return rows


def _is_of_rest(target: Target, name: str) -> bool:
    """Whether it is one of what a `*rest` has taken: `rest_0`, or `args_0` where TensorFlow has no types."""
    stem, _, number = name.rpartition("_")
    return bool(target.rest) and number.isdigit() and stem in (target.rest, "args") and name not in target.parameters


def _decorated(target: Target, option: str) -> str:
    if target.name == LAMBDA:
        return "function = tf.function(function, %s)" % ", ".join([option, *target.options])
    parameters = target.declared or ", ".join([*(["self"] if target.method else []), *target.parameters])
    return "@tf.function(%s)\ndef %s(%s): ..." % (", ".join([option, *target.options]), target.name, parameters)


def _called(target: Target, plans: Dict[str, _Plan], names: Sequence[str], traces: str, after: int) -> str:
    arguments = []
    for name in names:
        if _is_of_rest(target, name):
            arguments.append("*" + target.rest)
        else:
            positional = name in target.parameters
            arguments.append(plans[name].code if positional else "%s=%s" % (name, plans[name].code))
    arguments = list(dict.fromkeys(arguments))
    name = "function" if target.name == LAMBDA else target.name
    call = "%s%s(%s)" % ("self." if target.method else "", name, ", ".join(arguments))
    return "%s  # %s become %d" % (call, traces, after)


def _batches(name: str, plan: _Plan) -> str:
    """Two sizes of a batch, of which the smaller one is the last of a dataset."""
    shapes = {node.shape for node in plan.nodes if node is not None and node.kind == "tensor"}
    if len(shapes) != 2 or None in shapes:
        return ""
    one, other = sorted(shape for shape in shapes if shape is not None and None not in shape) or ((), ())
    if not one or one[1:] != other[1:] or len(one) < 2:
        return ""
    return "# if only the last batch of %s is smaller: dataset.batch(%s, drop_remainder=True)" % (name, other[0])


def buckets(seen: Sequence[Signature]) -> Optional[Rewrite]:
    """Code that pads what varies to powers of two; nothing where that does not halve the shapes that there were."""
    if len(seen) < 2:
        return None
    rows = [dict(one.arguments) for one in seen]
    lines, varied = [], []
    padded: List[List[Hashable]] = [[] for _ in seen]
    for name in rows[0]:
        shapes = [row[name].shape for row in rows if name in row]
        wide = widest(shapes)
        if len(shapes) < len(rows) or wide is None:
            return None
        if None in wide:
            pads = ["[0, 0]" if size is not None else _padding("%s.shape[%d]" % (name, axis))
                    for axis, size in enumerate(wide)]  # fmt: skip
            varied.append("`%s`" % name)
            lines.append("%s = tf.pad(%s, [%s])" % (name, name, ", ".join(pads)))
        for row, shape in zip(padded, shapes):
            row.append(tuple([_bucket(size) if open_ is None else size for size, open_ in zip(shape or (), wide)]))
    before, after = len(seen), len({tuple(row) for row in padded})
    if not lines or 2 * after > before:
        return None
    code = "\n".join([*lines[:-1], "%s  # %d builds become %d" % (lines[-1], before, after)])
    named = " and ".join(varied) if len(varied) < 3 else "what varies"
    return Rewrite(code, before, after, "pad %s to powers of two (%d builds become %d)" % (named, before, after))


def _bucket(size: Optional[int]) -> int:
    return 1 << ((size or 1) - 1).bit_length()


def _padding(size: str) -> str:
    return "[0, (1 << (%s - 1).bit_length()) - %s]" % (size, size)


# -- one argument


def _plan(code: str, nodes: Tuple[Optional[Node], ...], floats: str, number: str) -> _Plan:
    there = [node for node in nodes if node is not None]
    unchanged = _Plan(code, nodes)
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


def _unchanged(code: str, nodes: Tuple[Optional[Node], ...], floats: str) -> _Plan:
    """As it is; where all are tensors alike in dtype, with their spec."""
    plan = _plan(code, nodes, floats, "int")
    return plan if plan.code == code and not plan.notes else _Plan(code, nodes)


def _each(node: Node, times: int) -> Tuple[Node, ...]:
    return (node,) * times


def _tensors(code: str, nodes: List[Node], whats: Set[str], floats: str) -> _Plan:
    if len(whats) == 1:
        (dtype,) = whats
    elif whats <= _DTYPES:
        dtype = floats if any("float" in what for what in whats) else nodes[0].what
        code = "tf.cast(%s, tf.%s)" % (code, dtype)
        nodes = [node._replace(what=dtype) for node in nodes]
    else:
        return _Plan(code, tuple(nodes))
    shape = widest([node.shape for node in nodes])
    text = "None" if shape is None else shape_of(shape)
    return _Plan(code, tuple(nodes), "tf.TensorSpec(%s, tf.%s)" % (text, dtype))


def widest(shapes: Sequence[Shape]) -> Shape:
    """The shape into which all of them fit, with None where they differ."""
    first = shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    return tuple(size if all(shape[axis] == size for shape in known) else None for axis, size in enumerate(first))


def _numbers(code: str, nodes: List[Node], whats: Set[str], floats: str, number: str) -> _Plan:
    """Python numbers that vary, or that come in place of tensors."""
    if len({key_of(node) for node in nodes}) == 1:
        return _Plan(code, tuple(nodes))
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


def _strings(code: str, nodes: List[Node]) -> _Plan:
    if len({node.token for node in nodes}) <= _MOST_VARIANTS:
        return _Plan(code, tuple(nodes))
    return _tensors("tf.constant(%s)" % code, [Node("tensor", "string", ())] * len(nodes), {"string"}, "")


def _objects(code: str, nodes: List[Node], whats: Set[str]) -> _Plan:
    """Objects that are made anew and are alike: one will do."""
    distinct = {id(node.token) if isinstance(node.token, weakref.ref) else node.token for node in nodes}
    alike = {node.like for node in nodes}
    if len(distinct) == 1 or len(whats) > 1 or (nodes[0].kind == "object" and (len(alike) > 1 or None in alike)):
        return _Plan(code, tuple(nodes))
    note = "# make %s (%s) once, before the loop, and pass the same one each time" % (code, nodes[0].what)
    return _Plan(code, _each(nodes[0], len(nodes)), notes=(note,))


def _collections(code: str, nodes: List[Node], floats: str, number: str) -> _Plan:
    first = nodes[0]
    steps = [step for step, _ in first.parts]
    if any([step for step, _ in node.parts] != steps or node.what != first.what for node in nodes):
        return (
            _stacked(code, nodes, floats)
            if {node.kind for node in nodes} <= {"list", "tuple"}
            else _Plan(code, tuple(nodes))
        )
    plans = [
        _plan(code + step, tuple(node.parts[index][1] for node in nodes), floats, number)
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
            return _Plan(code, tuple(nodes))
        if not all(map(_STEP.match, steps)):
            return _Plan(code, tuple(nodes))  # a key that can't be written down
        code = _REBUILT[first.kind](code, steps, plans)
    return _Plan(code, tuple(made), spec, notes)


def _rebuilt_dict(code: str, steps: List[str], plans: List[_Plan]) -> str:
    changed = [(step, plan) for step, plan in zip(steps, plans) if plan.code != code + step]
    return "{**%s, %s}" % (code, ", ".join("%s: %s" % (step[1:-1], plan.code) for step, plan in changed))


def _rebuilt_fields(code: str, steps: List[str], plans: List[_Plan]) -> str:
    changed = [(step, plan) for step, plan in zip(steps, plans) if plan.code != code + step]
    return "%s._replace(%s)" % (code, ", ".join("%s=%s" % (step[1:], plan.code) for step, plan in changed))


def _rebuilt_list(code: str, steps: List[str], plans: List[_Plan]) -> str:
    return "[%s]" % ", ".join(plan.code for plan in plans)


def _rebuilt_tuple(code: str, steps: List[str], plans: List[_Plan]) -> str:
    return "(%s,)" % ", ".join(plan.code for plan in plans)


_REBUILT: Dict[str, Callable[[str, List[str], List[_Plan]], str]] = {
    "dict": _rebuilt_dict, "fields": _rebuilt_fields, "list": _rebuilt_list, "tuple": _rebuilt_tuple,
}  # fmt: skip


def _together(kind: str, steps: List[str], specs: List[str]) -> str:
    if kind == "dict":
        return "{%s}" % ", ".join("%s: %s" % (step[1:-1], spec) for step, spec in zip(steps, specs))
    return ("[%s]" if kind == "list" else "(%s,)") % ", ".join(specs)


def _stacked(code: str, nodes: List[Node], floats: str) -> _Plan:
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
    return _Plan(code, tuple(nodes))


def _float_dtype(seen: Sequence[Signature]) -> str:
    """The floating-point type with which the function computes, as far as its tensors tell."""
    found = [
        node.what for one in seen for _, node in leaves(one.arguments) if node.kind == "tensor" and "float" in node.what
    ]
    return found[0] if found and found.count(found[0]) == len(found) else "float32"


# -- how many traces TensorFlow makes of them


def _count(calls: Sequence[Signature], relax: str = "") -> int:
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
