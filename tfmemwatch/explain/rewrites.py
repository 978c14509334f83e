"""What to write instead: code for the user's own function, tried on the calls that were seen."""

from __future__ import annotations

from typing import Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Tuple

from .plans import Plan, left_alone, plan_for
from .retraces import traces_of
from .signatures import Node, Signature, leaves

_MOST_SHORT = 100  # characters of code in a log
LAMBDA = "<lambda>"


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
        plans[name] = left_alone(name, nodes, floats) if is_fixed else plan_for(name, nodes, floats, word)
    after = [
        one._replace(arguments=tuple((name, node) for name, node in _row(names, plans, index)))
        for index, one in enumerate(seen)
    ]
    contexts = len({one.context for one in seen})
    plain = traces_of(after)
    relaxed = traces_of(after, target.relax)
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


def _row(names: Sequence[str], plans: Dict[str, Plan], index: int) -> List[Tuple[str, Node]]:
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


def _called(target: Target, plans: Dict[str, Plan], names: Sequence[str], traces: str, after: int) -> str:
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


def _batches(name: str, plan: Plan) -> str:
    """Two sizes of a batch, of which the smaller one is the last of a dataset."""
    shapes = {node.shape for node in plan.nodes if node is not None and node.kind == "tensor"}
    if len(shapes) != 2 or None in shapes:
        return ""
    one, other = sorted(shape for shape in shapes if shape is not None and None not in shape) or ((), ())
    if not one or one[1:] != other[1:] or len(one) < 2:
        return ""
    return "# if only the last batch of %s is smaller: dataset.batch(%s, drop_remainder=True)" % (name, other[0])


def _float_dtype(seen: Sequence[Signature]) -> str:
    """The floating-point type with which the function computes, as far as its tensors tell."""
    found = [
        node.what for one in seen for _, node in leaves(one.arguments) if node.kind == "tensor" and "float" in node.what
    ]
    return found[0] if found and found.count(found[0]) == len(found) else "float32"
