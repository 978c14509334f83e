"""Whether some line of the source keeps a collection from growing for ever."""

from __future__ import annotations

import ast
import functools
from typing import Any, Callable, Dict, Iterable, Iterator, List, Set, Tuple

from .calls import OWN, called, calls_in, functions_in
from .syntax import (
    CONSTRUCTS,
    Part,
    carries_on,
    is_slice,
    key_in,
    name_called,
    parsed,
    tail,
    targets_of,
    text_in,
    walk,
    what_is_in_brackets,
)  # fmt: skip

_TAKES = frozenset(
    "pop popitem popleft remove discard clear get_nowait difference_update intersection_update __delitem__".split()
)

_FUNCTIONS_THAT_TAKE = frozenset("heappop heappushpop heapreplace".split())


def may_bound(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some line keeps what has one of these names, in one of these classes, from growing for ever.

    It takes things out, compares its length, begins anew elsewhere than in the constructor, or counts its keys round.
    """
    tree = parsed(file)
    return tree is not None and any(bounding(set(names), set(owners), list(walk(tree))))


def bounding(wanted: Set[str], classes: Set[str], parts: List[Part]) -> Iterator[Part]:
    """The parts of a program that do so."""
    own = [part for part in parts if not classes or part.owner in classes]
    for part in own:
        if any(wanted.intersection(question(part)) for question in _BOUNDS):
            yield part
    yield from _keyed_round_by_function(wanted, own, parts)
    yield from _keyed_round_by_caller(wanted, own, parts)
    yield from _keyed_by_index(wanted, own, parts)
    yield from _bounding_elsewhere(wanted, classes, parts)


def _bounding_elsewhere(wanted: Set[str], classes: Set[str], parts: List[Part]) -> Iterator[Part]:
    """Other code of the file that does: to an attribute, `store.rows.clear()`, or to what it is given."""
    tests = tests_in(parts)
    for part in parts if classes else ():
        if part.owner in classes or (part.owner, part.function) in tests:
            continue
        found = wanted.intersection(name for question in _BOUNDS for name in question(part))
        if found.intersection(_attributes_of_others(part)):
            yield part
    given = set(_given_to_functions(wanted, parts))
    for part in parts if given else ():
        names = {name for function, name in given if function == called(part.owner, part.function)}
        if names.intersection(name for question in _BOUNDS for name in question(part)):
            yield part


def tests_in(parts: List[Part]) -> Set[Tuple[str, str]]:
    """The functions, each of its class, that are tests or set one up."""
    return {(part.owner, part.node.name) for part in parts if _is_of_a_test(part.node)}


def _is_of_a_test(node: ast.AST) -> bool:
    """Whether it is a test, or sets one up: what it takes out, the program does not."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    names = [tail(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
    return "fixture" in names or node.name.lower().startswith(("setup", "teardown", "test"))


def _attributes_of_others(part: Part) -> Iterator[str]:
    """The names of the attributes in it that are not those of its own object."""
    nodes = [part.node, *(part.aliases[one.id] for one in ast.walk(part.node)
                          if isinstance(one, ast.Name) and one.id in part.aliases)]  # fmt: skip
    for node in nodes:
        for one in ast.walk(node):
            is_own = isinstance(getattr(one, "value", None), ast.Name) and one.value.id in OWN  # type: ignore[attr-defined]
            if isinstance(one, ast.Attribute) and not is_own:
                yield one.attr


def _given_to_functions(wanted: Set[str], parts: List[Part]) -> Iterator[Tuple[str, str]]:
    """The functions of the file that are called with it, and what it is called in there."""
    for call in calls_in(parts):
        for name, argument in call.given.items():
            if tail(argument, call.part.aliases) in wanted:
                yield call.function, name


def takes_out(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some line takes something out of what has one of these names, in one of these classes."""
    return _says_any((taken,), names, file, owners)


@functools.lru_cache(maxsize=256)
def is_renewed(name: str, file: str, owners: Tuple[str, ...]) -> bool:
    """Whether some line of these classes gives an attribute a new value, elsewhere than in a constructor."""
    return _says_any((renewed,), (name,), file, owners)


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
    is_assignment = isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
    if is_assignment and part.function not in CONSTRUCTS:
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
    """What is written to at a key that comes round: `ring[step % 100] = x`, `ring.setdefault(step % 100, x)`."""
    return [name for name, key in _written(part) if any(map(_is_round, _nodes_in(key, part)))]


def _keyed_round_by_function(wanted: Set[str], own: List[Part], parts: List[Part]) -> Iterator[Part]:
    """The same, where a function of the file reckons the key: `ring[slot_of(step)] = x`."""
    rounds = {part.function for part in parts if isinstance(part.node, ast.Return)
              and any(map(_is_round, _nodes_in(part.node.value, part)))}  # fmt: skip
    for part in own if rounds else ():
        keys = [one for name, key in _written(part) if name in wanted for one in _nodes_in(key, part)]
        if any(isinstance(one, ast.Call) and name_called(one) in rounds for one in keys):
            yield part


def _keyed_round_by_caller(wanted: Set[str], own: List[Part], parts: List[Part]) -> Iterator[Part]:
    """The same, where all callers give a function all of the key: `self.row(step % 18, step // 18 % 24)`."""
    keys = [(part, key) for part in own for name, key in _written(part) if name in wanted]
    rounds: Dict[str, List[Set[str]]] = {}  # of each call of a function, the parameters that come round
    for call in calls_in(parts) if keys else ():
        found = {name for name, argument in call.given.items() if any(map(_is_round, _nodes_in(argument, call.part)))}
        rounds.setdefault(call.function, []).append(found)
    for part, key in keys:
        pieces = {getattr(one, "id", "") for one in (key.elts if isinstance(key, ast.Tuple) else [key])}
        if part.function in rounds and all(pieces <= found for found in rounds[part.function]):
            yield part


def _keyed_by_index(wanted: Set[str], own: List[Part], parts: List[Part]) -> Iterator[Part]:
    """What an object with a length remembers of its items: `self.decoded[index] = x` in `__getitem__(self, index)`."""
    sized = {part.owner for part in parts if getattr(part.node, "name", "") == "__len__"} - {""}
    indexes = functions_in(parts).get("__getitem__", []) if sized else []
    for part in own if indexes else ():
        keys = [key for name, key in _written(part) if name in wanted and part.function == "__getitem__"]
        if part.owner in sized and any(getattr(key, "id", "") in indexes for key in keys):
            yield part


def _written(part: Part) -> Iterator[Tuple[str, Any]]:
    """What is written to at a key, and the key."""
    for target in targets_of(part.node):
        if isinstance(target, ast.Subscript):
            yield tail(target.value, part.aliases), what_is_in_brackets(target)
    node = part.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
        yield tail(node.func.value, part.aliases), node.args[0] if node.args else None


def _nodes_in(key: Any, part: Part) -> Iterator[ast.AST]:
    """All that a key is made of; for a local name, what it stands for."""
    for one in ast.walk(key) if key is not None else ():
        yield one
        if isinstance(one, ast.Name) and one.id in part.aliases:
            yield from ast.walk(part.aliases[one.id])


def _is_round(node: ast.AST) -> bool:
    """Whether it is a remainder; no text is formatted."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and not text_in(node.left)


_BOUNDS = (taken, _measured, renewed, _keyed_round)
