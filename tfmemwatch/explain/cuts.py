"""Values that a program makes longer, and cuts: `self.keys = tf.concat([self.keys, key], 0)[-1600:]`."""

from __future__ import annotations

import ast
from typing import Iterator, Tuple

from .size_limits import limits_of
from .syntax import name_called, parsed, tail, targets_of, walk


def is_cut_at(file: str, line: int) -> bool:
    """Whether what the statement at a line gives a new value is cut to a length, there or elsewhere in its function."""
    renewed = set(_renewed_at(file, line))
    return any(limits_of(name, file, (owner,), function) for owner, function, name in renewed if name)


def _renewed_at(file: str, line: int) -> Iterator[Tuple[str, str, str]]:
    """The class, the function and the names that get a new value in a statement that stands at a line, or over it."""
    tree = parsed(file)
    for part in walk(tree) if tree is not None else ():
        node = part.node
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)) or not _is_at(node, line):
            continue
        call = node.value
        names = [tail(target) for target in targets_of(node)]
        if isinstance(call, ast.Call) and name_called(call) == "assign" and isinstance(call.func, ast.Attribute):
            names.append(tail(call.func.value))
        yield from ((part.owner, part.function, name) for name in names)


def _is_at(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= max(getattr(one, "lineno", 0) for one in ast.walk(node))
