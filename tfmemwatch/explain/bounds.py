"""Whether some line of the source keeps a collection from growing for ever."""

from __future__ import annotations

import ast
from typing import Callable, Iterable, List

from .syntax import CONSTRUCTS, Part, carries_on, is_slice, key_in, name_called, parsed, tail, targets_of, text_in, walk

_TAKES = frozenset(
    "pop popitem popleft remove discard clear get_nowait difference_update intersection_update __delitem__".split()
)

_FUNCTIONS_THAT_TAKE = frozenset("heappop heappushpop heapreplace".split())


def may_bound(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some line keeps what has one of these names, in one of these classes, from growing for ever.

    It takes things out, compares its length, begins anew elsewhere than in the constructor, or counts its keys round.
    """
    bounds = (taken, _measured, renewed, _keyed_round)
    return _says_any(bounds, names, file, owners) or (bool(owners) and _is_measured_by_function(names, file))


def _is_measured_by_function(names: Iterable[str], file: str) -> bool:
    """Whether a function outside of all classes asks how long it is, as who fills it may: `len(store.models) < 60`."""
    wanted, tree = set(names), parsed(file)
    parts = [part for part in walk(tree) if not part.owner] if tree is not None else []
    return any(wanted.intersection(_measured(part)) for part in parts)


def takes_out(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some line takes something out of what has one of these names, in one of these classes."""
    return _says_any((taken,), names, file, owners)


def measures(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some condition asks for the length of what has one of these names, in one of these classes."""
    return _says_any((_measured,), names, file, owners)


def _says_any(
    questions: Iterable[Callable[[Part], Iterable[str]]], names: Iterable[str], file: str, owners: Iterable[str]
) -> bool:
    wanted, classes = set(names), set(owners)
    tree = parsed(file)
    parts = (part for part in walk(tree) if not classes or part.owner in classes) if tree is not None else ()
    return any(wanted.intersection(question(part)) for part in parts for question in questions)


def taken(part: Part) -> List[str]:
    """What is taken from: by `rows.pop`, called or kept for later, `heappop(rows)`, `del rows[0]`, `rows -= …`."""
    node, aliases = part.node, part.aliases
    if isinstance(node, ast.Attribute) and node.attr in _TAKES:
        return [tail(node.value, aliases)]
    if isinstance(node, ast.Call) and name_called(node) in _FUNCTIONS_THAT_TAKE and node.args:
        return [tail(node.args[0], aliases)]
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Sub, ast.BitAnd)):
        return [tail(node.target, aliases)]
    targets = node.targets if isinstance(node, ast.Delete) else ()
    return [tail(target.value, aliases) for target in targets if isinstance(target, ast.Subscript)]


def _measured(part: Part) -> List[str]:
    """What a condition asks the length of: `if len(self.rows) > 100`; but not `ids[word] = len(ids)`."""
    if not isinstance(part.node, ast.Compare):
        return []
    asked = [part.aliases.get(one.id, one) if isinstance(one, ast.Name) else one for one in ast.walk(part.node)]
    calls = [one for one in asked if isinstance(one, ast.Call) and name_called(one) == "len" and one.args]
    return [tail(one.args[0], part.aliases) for one in calls]


def renewed(part: Part) -> List[str]:
    """The names that get a new value: `self.rows = []`, `out, self.rows = self.rows, []`, `rows[:] = rows[-9:]`.

    Not where a collection is made once, nor where the new value is the old one with more in it. A local name counts
    where a loop makes it anew.
    """
    node = part.node
    if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
        inner = [one for one in ast.walk(node) if isinstance(one, ast.Assign)]
        return [target.id for one in inner for target in one.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.Global):
        return node.names
    if isinstance(node, ast.Assign) and part.function not in CONSTRUCTS:
        return [_renewal(target) for target in targets_of(node) if not carries_on(node, tail(target))]
    if isinstance(node, ast.Call) and name_called(node) == "setattr" and len(node.args) == 3:
        return [text_in(node.args[1])]
    return []


def _renewal(target: ast.AST) -> str:
    """What an assignment gives a new value: an attribute, what stands at a key that is spelled out, or a slice."""
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        return tail(target.value) if is_slice(target) else key_in(target.slice)
    return ""


def _keyed_round(part: Part) -> List[str]:
    """What is written to at a key that comes round: `ring[step % 100] = x`."""
    found = []
    for target in targets_of(part.node):
        if isinstance(target, ast.Subscript):
            keys = [one for one in ast.walk(target.slice) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod)]
            found += [tail(target.value, part.aliases) for key in keys if not text_in(key.left)]  # no text is formatted
    return found
