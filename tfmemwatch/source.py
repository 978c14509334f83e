"""Which line of the user's source puts things into a collection of a given name."""
from __future__ import annotations

import ast
import linecache
import sys
from typing import Any, Iterable, List, Optional, Set

from .model import Site
from .site import is_project

_PUTS = frozenset("append add extend insert appendleft extendleft setdefault update put push put_nowait".split())
_MOST_FILES = 400


def project_files(first: Iterable[str] = ()) -> List[str]:
    """The source files of the user's own code that are loaded, the likeliest first."""
    files = [file for file in first if file and is_project(file)]
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_project(file):
            files.append(file)
    for frame in list(sys._current_frames().values()):
        at: Any = frame
        while at is not None:
            if is_project(at.f_code.co_filename):
                files.append(at.f_code.co_filename)
            at = at.f_back
    return list(dict.fromkeys(files))[:_MOST_FILES]


def putting_into(name: str, files: Iterable[str]) -> List[Site]:
    """The lines that put something into what is called `name`, in the order of the files."""
    found: List[Site] = []
    for file in files:
        text = "".join(linecache.getlines(file))
        if name not in text:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        found.extend(_in_tree(tree, name, file))
    return found


def _in_tree(tree: ast.AST, name: str, file: str) -> Iterable[Site]:
    lines: Set[int] = set()
    for function, node in _walk(tree, "<module>"):
        if _puts(node, name) and node.lineno not in lines:
            lines.add(node.lineno)
            yield Site(file, node.lineno, function)


def _walk(node: ast.AST, function: str) -> Iterable[Any]:
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        yield inner, child
        yield from _walk(child, inner)


def _puts(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _PUTS and _tail(node.func.value) == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and _tail(target.value) == name for target in node.targets)
    if isinstance(node, ast.AugAssign):
        target = node.target
        return isinstance(node.op, (ast.Add, ast.BitOr)) and _tail(target) == name
    return False


def _tail(node: Optional[ast.AST]) -> str:
    """The last name of an expression: `results` of `self.results`, `state["results"]`, `results[key]`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _key(node.slice) or _tail(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _tail(node.func.value) if node.func.attr == "setdefault" else ""
    return ""


def _key(node: Any) -> str:
    """The string in brackets, however this Python spells it."""
    kind = type(node).__name__
    if kind == "Index":  # before Python 3.9
        return _key(node.value)
    value = {"Constant": "value", "Str": "s"}.get(kind)  # Str before Python 3.8
    found = getattr(node, value) if value else ""
    return found if isinstance(found, str) else ""
