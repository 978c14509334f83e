"""The user's source as a tree: its nodes with the function they stand in, and the names that an expression leads by."""

from __future__ import annotations

import ast
import linecache
from types import MappingProxyType
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

_NAMED_ELSEWHERE = (ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)
LEADS_ON = frozenset("setdefault get __getitem__".split())  # methods that lead from a collection to what is in it
CONSTRUCTS = frozenset("__init__ __new__ __post_init__ setup build <module>".split())  # a beginning is no renewal


def is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def carries_on(node: Union[ast.Assign, ast.AnnAssign], name: str) -> bool:
    """Whether the new value is the old one with more in it: `rows = rows + [x]`, `[*rows, x]`, `{**rows, k: x}`."""
    value = node.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.BitOr)):
        return any(tail(side) == name and not is_slice(side) for side in (value.left, value.right))
    starred = [one.value for one in getattr(value, "elts", ()) if isinstance(one, ast.Starred)]
    merged = [one for key, one in zip(value.keys, value.values) if key is None] if isinstance(value, ast.Dict) else []
    return any(tail(one) == name for one in starred + merged)


def name_called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def parsed(file: str, name: str = "") -> Optional[ast.AST]:
    text = "".join(linecache.getlines(file))
    if name not in text:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


class Part(NamedTuple):
    """A node of a program, with the class and the function that it stands in."""

    owner: str
    function: str
    node: Any
    aliases: Dict[str, ast.AST]  # what the local names of the function stand for


def walk(tree: ast.AST) -> Iterator[Part]:
    """Every node of a program."""
    return _below(tree, "", "<module>", {})


def _below(node: ast.AST, owner: str, function: str, aliases: Dict[str, ast.AST]) -> Iterator[Part]:
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        outer = child.name if isinstance(child, ast.ClassDef) else owner
        inner = child.name if is_function else function  # type: ignore[attr-defined]
        names = aliases_in(child) if is_function else aliases
        yield Part(outer, inner, child, names)
        yield from _below(child, outer, inner, names)


def aliases_in(function: ast.AST) -> Dict[str, ast.AST]:
    """The local names that stand for what has a name elsewhere or is reckoned: `add = rows.append`, `at = key % 9`."""
    found: Dict[str, ast.AST] = {}
    for node in ast.walk(function):
        for target, value in pairs_of(node) if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name) and isinstance(value, _NAMED_ELSEWHERE):
                found[target.id] = value
    return found


def pairs_of(node: ast.Assign) -> Iterator[Tuple[ast.AST, ast.AST]]:
    """What an assignment assigns to what: of `a, b = c, d` both."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value


def targets_of(node: ast.AST) -> List[ast.AST]:
    """What an assignment assigns to, one by one."""
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    whole = node.targets if isinstance(node, ast.Assign) else []
    return [one for target in whole for one in (target.elts if isinstance(target, ast.Tuple) else [target])]


def tail(node: Optional[ast.AST], aliases: Mapping[str, ast.AST] = MappingProxyType({})) -> str:
    """The nearest name of an expression: `results` of `self.results`, `state["results"]`, `results[key]`."""
    names = names_in(node, aliases)
    return names[0] if names else ""


def names_in(node: Optional[ast.AST], aliases: Mapping[str, ast.AST]) -> List[str]:
    """All names by which an expression leads to something, the nearest first; of an attribute only its own."""
    if isinstance(node, ast.Name):
        alias = aliases.get(node.id)
        rest = {name: value for name, value in aliases.items() if name != node.id}
        return [*names_in(alias, rest), node.id] if alias is not None else [node.id]
    if isinstance(node, ast.Attribute):
        return names_in(node.value, aliases) if node.attr == "__dict__" else [node.attr]
    if isinstance(node, ast.Subscript):
        key = key_in(node.slice)
        return ([key] if key else []) + names_in(node.value, aliases)
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Attribute) and node.func.attr in LEADS_ON:
        key = text_in(node.args[0]) if node.args else ""
        return ([key] if key else []) + names_in(node.func.value, aliases)
    if name_called(node) == "getattr" and len(node.args) > 1:
        return [text_in(node.args[1])]
    return names_in(node.args[0], aliases) if name_called(node) == "vars" and node.args else []


def what_is_in_brackets(node: ast.Subscript) -> Any:
    """The key or the index, however this Python spells it."""
    inner: Any = node.slice
    return inner.value if type(inner).__name__ == "Index" else inner


def key_in(node: Any) -> str:
    """The string in brackets, however this Python spells it."""
    return key_in(node.value) if type(node).__name__ == "Index" else text_in(node)  # Index before Python 3.9


def text_in(node: Any) -> str:
    value = {"Constant": "value", "Str": "s"}.get(type(node).__name__)  # Str before Python 3.8
    found = getattr(node, value) if value else ""
    return found if isinstance(found, str) else ""
