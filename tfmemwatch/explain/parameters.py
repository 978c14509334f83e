"""What a function does with its parameters: computes with them, or needs them as plain Python values."""

from __future__ import annotations

import ast
import functools
from typing import (
    Any,
    FrozenSet,
    Iterable,
    List,
    Set,
)  # fmt: skip

from .syntax import name_called, parsed, what_is_in_brackets


@functools.lru_cache(maxsize=256)
def computed_with(file: str, line: int) -> FrozenSet[str]:
    """The parameters of the function at a line with which it computes, together with something that is no constant."""
    found: Set[str] = set()
    for function in _functions_at(file, line):
        for inner in ast.walk(function):
            if isinstance(inner, ast.BinOp):
                sides = (inner.left, inner.right)
                names = [side.id for side in sides if isinstance(side, ast.Name)]
                found.update(names if not any(map(is_constant, sides)) else ())
    return frozenset(found)


def _functions_at(file: str, line: int) -> List[Any]:
    """The functions that begin at a line, with their decorators."""
    tree = parsed(file)
    found = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            decorators = [one.lineno for one in getattr(node, "decorator_list", ())]
            if line in (node.lineno, min([node.lineno, *decorators])):
                found.append(node)
    return found


@functools.lru_cache(maxsize=256)
def kept_plain(file: str, line: int, is_converted: bool) -> FrozenSet[str]:
    """The parameters that the function at a line uses where a tensor would be an error.

    Where AutoGraph converts the function, a tensor may be a condition or a count.
    """
    found: Set[str] = set()
    for function in _functions_at(file, line):
        arguments = function.args
        parameters = {one.arg for one in (*arguments.args, *arguments.kwonlyargs)}
        nodes = list(ast.walk(function))
        own = parameters | {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        for node in nodes:
            found.update(_named_in(part) for part in _plain_parts(node, own, is_converted))
        found.update(name for name in parameters if name not in found and _is_text(name, nodes))
    return frozenset(found)


_ALWAYS_PLAIN = frozenset("getattr setattr hasattr name_scope VariableScope variable_scope open".split())
_PLAIN_UNCONVERTED = frozenset("range int float bool min max".split())
_PLAIN_KEYWORDS = frozenset("name dtype num num_or_size_splits units filters".split())


def _plain_parts(node: ast.AST, own: Set[str], is_converted: bool) -> Iterable[ast.AST]:
    """The parts of an expression or a statement that must not be tensors."""
    if isinstance(node, ast.Subscript) and _root(node.value) not in own - {"self"}:
        yield what_is_in_brackets(node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        if any(isinstance(side, (ast.List, ast.Tuple, ast.ListComp)) for side in (node.left, node.right)):
            yield from (node.left, node.right)
    elif isinstance(node, ast.Call):
        called = name_called(node)
        if called in _ALWAYS_PLAIN or (called in _PLAIN_UNCONVERTED and not is_converted):
            yield from node.args
        yield from (one.value for one in node.keywords if one.arg in _PLAIN_KEYWORDS)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)) and not is_converted:
        yield from ast.walk(node.test)


def _named_in(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.AST) -> str:
    """`x` of `x.rows[0]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return _named_in(node)


def _is_text(name: str, nodes: List[Any]) -> bool:
    """Whether something is compared with a text in Python, or is made part of one."""
    return any(
        (isinstance(node, ast.FormattedValue) and _named_in(node.value) == name)
        or (isinstance(node, ast.Compare) and name in map(_named_in, [node.left, *node.comparators])
        and any(isinstance(getattr(one, "value", getattr(one, "s", None)), str) for one in node.comparators))
        for node in nodes
    )  # fmt: skip


def is_constant(node: ast.AST) -> bool:
    return type(node).__name__ in ("Constant", "Num")
