"""The calls of functions of one file, and what each parameter is given. Pure: syntax in, syntax out."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

from .syntax import Part, name_called, tail

OWN = ("self", "cls")


class Call(NamedTuple):
    """A call of a function that stands in the same file, or of the constructor of a class."""

    part: Part
    function: str  # its name, or that of the class
    given: Dict[str, ast.AST]  # by parameter


def calls_in(parts: List[Part]) -> Iterator[Call]:
    """Of `f(a, b=c)`, of `Class(a)`, and of `Thread(target=f, args=(a,))` and `submit(f, a)`, which call it later."""
    functions = functions_in(parts)
    for part in parts:
        if isinstance(part.node, ast.Call):
            name, arguments = _called(part.node, functions)
            if name in functions:
                named = {one.arg: one.value for one in part.node.keywords if one.arg in functions[name]}
                yield Call(part, name, {**dict(zip(functions[name], arguments)), **named})


def functions_in(parts: List[Part]) -> Dict[str, List[str]]:
    """The parameters of each function, and of the constructor of each class."""
    found: Dict[str, List[str]] = {}
    for part in parts:
        if isinstance(part.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = part.node.args
            names = [one.arg for one in (*getattr(given, "posonlyargs", ()), *given.args, *given.kwonlyargs)]
            found[called(part.owner, part.node.name)] = names[1:] if names[:1] and names[0] in OWN else names
    return found


def called(owner: str, function: str) -> str:
    """The name by which a function is called: a constructor by its class."""
    return owner if function == "__init__" and owner else function


def _called(call: ast.Call, functions: Dict[str, List[str]]) -> Tuple[str, List[Any]]:
    """What is called, and with which arguments."""
    name = name_called(call)
    if name in functions:
        return name, call.args
    keywords = {one.arg: one.value for one in call.keywords}
    if "target" in keywords:
        return tail(keywords["target"]), list(getattr(keywords.get("args"), "elts", ()))
    return (tail(call.args[0]), call.args[1:]) if call.args else ("", [])
