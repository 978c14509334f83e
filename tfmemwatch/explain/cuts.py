"""Values that a program makes longer, and cuts: `self.keys = tf.concat([self.keys, key], 0)[-1600:]`."""

from __future__ import annotations

import ast
from typing import Iterator

from .size_limits import limits_of
from .syntax import name_called, parsed, tail, targets_of


def is_cut_at(file: str, line: int) -> bool:
    """Whether what the statement at a line gives a new value is cut to a length, there or elsewhere in the file."""
    return any(limits_of(name, file) for name in set(_renewed_at(file, line)) - {""})


def _renewed_at(file: str, line: int) -> Iterator[str]:
    """The names that get a new value in a statement that stands at a line, or goes over it."""
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)) or not _is_at(node, line):
            continue
        yield from (tail(target) for target in targets_of(node))
        call = node.value
        if isinstance(call, ast.Call) and name_called(call) == "assign" and isinstance(call.func, ast.Attribute):
            yield tail(call.func.value)


def _is_at(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= max(getattr(one, "lineno", 0) for one in ast.walk(node))
