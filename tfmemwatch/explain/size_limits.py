"""Numbers at which the program's source keeps the length of a collection, as expressions. Pure: source in, syntax out.

`if len(rows) > self.size: rows.popitem()`, `rows = rows[-100:]`, `ring[step % 100] = x`, `rows.pop(step - 100)`.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Type

from .bounds import renewed, taken
from .parameters import is_constant
from .source import filled
from .syntax import Part, aliases_in, name_called, parsed, tail, targets_of, text_in, what_is_in_brackets

SIZE_NAME = re.compile(r"^_*(\w*__)?(max_?(size|len|length|items|entries|count)|capacity|(size_)?limit|MAX_\w+)$")
_OVER, _UNDER = (ast.Gt, ast.GtE, ast.Eq), (ast.Lt, ast.LtE)
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_AS_TEXT = frozenset("str int repr hash".split())


Name = Tuple[str, ...]  # `("self", "settings", "size")`
Read = Callable[[Name], Optional[int]]


class Limit(NamedTuple):
    """A product of expressions, and what the local names in them were given, where that is one value."""

    factors: Tuple[ast.AST, ...]
    local: Dict[str, ast.AST]
    turns: bool = True  # whether what it holds goes in its turn; not where a place is filled once, and stays

    def number(self, read: Read) -> Optional[int]:
        """What it comes to, where `read` says what names stand for; None where it cannot be told."""
        numbers = [_number(one, self.local, read) for one in self.factors]
        known = [one for one in numbers if one is not None]
        return functools.reduce(operator.mul, known) if known and len(known) == len(numbers) else None


_OPERATIONS: Dict[Type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
}  # fmt: skip


def _number(node: Any, local: Dict[str, ast.AST], read: Read, depth: int = 6) -> Optional[int]:
    if depth == 0:
        return None
    if is_constant(node):
        found = getattr(node, "value" if type(node).__name__ == "Constant" else "n")
        return int(found) if type(found) in (int, float) and abs(found) < 1 << 62 else None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = (_number(side, local, read, depth - 1) for side in (node.left, node.right))
        if left is None or right is None or (right == 0 and isinstance(node.op, ast.FloorDiv)):
            return None
        return _OPERATIONS[type(node.op)](left, right)
    name = _dotted(node)
    found = read(name) if name else None
    if found is None and isinstance(node, ast.Name) and node.id in local:
        return _number(local[node.id], local, read, depth - 1)
    return found


def number_in(node: Any) -> Optional[int]:
    """The number that an expression of constants comes to; None for any other."""
    return _number(node, {}, lambda name: None)


def _dotted(node: Any) -> Name:
    """The parts of a name with dots; nothing for any other expression."""
    if isinstance(node, ast.Name):
        return (node.id,)
    before = _dotted(node.value) if isinstance(node, ast.Attribute) else ()
    return (*before, node.attr) if before else ()


class _Scope(NamedTuple):
    """A function, or what a module or a class has outside of functions."""

    owner: str
    function: str
    nodes: List[ast.AST]
    aliases: Dict[str, ast.AST]
    local: Dict[str, ast.AST]

    def parts(self, below: Iterable[ast.AST]) -> Iterator[Part]:
        """These statements and all that is in them, as parts of this function."""
        return (Part(self.owner, self.function, node, self.aliases) for one in below for node in ast.walk(one))


@functools.lru_cache(maxsize=64)
def limits_of(name: str, file: str, owners: Tuple[str, ...] = (), function: str = "") -> Tuple[Limit, ...]:
    """What keeps a collection of this name: in the code of these classes, or of this function, where one is given."""
    tree = parsed(file, name)
    scopes = list(_scopes(tree)) if tree is not None else []
    scopes = [one for one in scopes if not owners or one.owner in owners]
    scopes = [one for one in scopes if not function or one.function == function]
    takers = frozenset(one.function for one in scopes if _takes(name, one.parts(one.nodes)))
    return tuple(limit for one in scopes for limit in _in_scope(name, one, takers))


def _scopes(tree: ast.AST) -> Iterator[_Scope]:
    below: List[Tuple[Any, str, Dict[str, ast.AST]]] = [(tree, "", {})]
    while below:
        top, owner, outer = below.pop()
        is_function = isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef))
        nodes, inner = _own_nodes(top)
        local = {**outer, **_given_once(top, nodes)}
        name = top.name if is_function else "<module>"
        yield _Scope(owner, name, nodes, aliases_in(top) if is_function else {}, local)
        for one in inner:
            below.append((one, one.name if isinstance(one, ast.ClassDef) else owner, local))


def _own_nodes(top: ast.AST) -> Tuple[List[ast.AST], List[Any]]:
    """The nodes of a function but for those of functions and classes in it; and these."""
    nodes: List[ast.AST] = []
    inner: List[Any] = []
    below = list(ast.iter_child_nodes(top))
    while below:
        node = below.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner.append(node)
        else:
            nodes.append(node)
            below += ast.iter_child_nodes(node)
    return nodes, inner


def _given_once(top: Any, nodes: List[ast.AST]) -> Dict[str, ast.AST]:
    """The local names that are given one value, and the defaults of parameters."""
    given: Dict[str, List[ast.AST]] = {}
    for node in nodes:
        if isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
            given.setdefault(node.target.id, []).extend((node, node))
        for target in targets_of(node):
            if isinstance(target, ast.Name):
                given.setdefault(target.id, []).append(getattr(node, "value", None) or node)
    found = {name: values[0] for name, values in given.items() if len(values) == 1}
    arguments = getattr(top, "args", None)
    if arguments is not None:
        last = arguments.args[len(arguments.args) - len(arguments.defaults) :]
        pairs = [*zip(last, arguments.defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
        found.update((one.arg, value) for one, value in pairs if value is not None and one.arg not in given)
    return found


def _in_scope(name: str, scope: _Scope, takers: FrozenSet[str]) -> Iterator[Limit]:
    once = _done_once(scope)
    for node in scope.nodes:
        if isinstance(node, (ast.If, ast.While)):
            for number in _compared(name, node, scope, takers):
                yield Limit((number,), scope.local)
        for number in [*_cut(name, node, scope), *_window(name, node, scope)]:
            yield Limit((number,), scope.local)
        for key in _keys(name, node, scope):
            factors = _moduli(key, scope.local)
            if factors:
                yield Limit(tuple(factors), scope.local, isinstance(node, ast.Assign) and id(node) not in once)


# -- `if len(rows) > self.size: rows.popitem()`


def _compared(name: str, node: Any, scope: _Scope, takers: FrozenSet[str]) -> Iterator[ast.AST]:
    """What its length is compared with, where it is kept from growing beyond."""
    for test in ast.walk(node.test):
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right, operation = test.left, test.comparators[0], test.ops[0]
            yield from _on_side(name, left, right, isinstance(operation, _OVER), node, scope, takers)
            is_over = isinstance(operation, (ast.Eq, *_UNDER))
            yield from _on_side(name, right, left, is_over, node, scope, takers)


def _on_side(
    name: str, length: ast.AST, number: ast.AST, is_over: bool, node: Any, scope: _Scope, takers: FrozenSet[str]
) -> Iterator[ast.AST]:
    over, under = (node.body, node.orelse) if is_over else (node.orelse, node.body)
    modulus = _modulus_of(length)
    if modulus:
        length, number = modulus
    is_length = _is_length(name, length, scope)
    if not is_length and not SIZE_NAME.match(tail(number)):
        return
    if _keeps(name, over, scope, takers) or (is_length and _guards(name, over, under, scope)):
        yield number


def _modulus_of(node: ast.AST) -> Optional[Tuple[ast.AST, ast.AST]]:
    is_modulo = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    return (node.left, node.right) if is_modulo else None  # type: ignore[attr-defined]


def _is_length(name: str, node: ast.AST, scope: _Scope) -> bool:
    """`len(rows)`, `rows.qsize()`, `len(self)` in its class, or a local name for one of them."""
    if isinstance(node, ast.Name):
        node = scope.local.get(node.id, node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "qsize" and tail(node.func.value, scope.aliases) == name
    of = tail(node.args[0], scope.aliases) if node.args else ""
    return name_called(node) == "len" and (of == name or (of == "self" and scope.owner != ""))


def _keeps(name: str, over: List[ast.AST], scope: _Scope, takers: FrozenSet[str]) -> bool:
    """Whether something is taken out of it, or it begins anew: here, or in a method that is called here."""
    parts = list(scope.parts(over))
    calls = {name_called(part.node) for part in parts if isinstance(part.node, ast.Call)}
    return _takes(name, parts) or bool(calls & takers)


def _takes(name: str, parts: Iterable[Part]) -> bool:
    return any(name in (*taken(part), *renewed(part), *_begun(part), *_got(part)) for part in parts)


def _begun(part: Part) -> List[str]:
    """A local name or a global one that begins anew: `rows = []`."""
    node = part.node
    is_empty = isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Dict, ast.Call, ast.Subscript))
    return [tail(target) for target in targets_of(node)] if is_empty else []


def _got(part: Part) -> List[str]:
    """`queue.get()`."""
    node = part.node
    is_get = isinstance(node, ast.Call) and name_called(node) == "get" and not node.args
    return [tail(node.func.value, part.aliases)] if is_get and isinstance(node.func, ast.Attribute) else []


def _guards(name: str, over: List[ast.AST], under: List[ast.AST], scope: _Scope) -> bool:
    """Whether something is put into it only while it is short, or the function ends where it is long."""
    if any(isinstance(one, _ENDS) for one in over):
        return True
    return any(tail(filled(part, False), scope.aliases) == name for part in scope.parts(under))


# -- `del rows[:-100]`, `rows = rows[-100:]`, `rows.pop(step - 100)`


def _cut(name: str, node: ast.AST, scope: _Scope) -> Iterator[ast.AST]:
    """To how many items it is cut."""
    if isinstance(node, ast.Delete):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and tail(target.value, scope.aliases) == name:
                yield from _last(_slice(target, "upper"), name, scope) or filter(None, [_slice(target, "lower")])
    value = _new_value(name, node, scope)
    for one in ast.walk(value) if value is not None else ():
        if isinstance(one, ast.Subscript) and name in [tail(part, scope.aliases) for part in ast.walk(one.value)]:
            for part in [one.slice, *getattr(one.slice, "elts", ()), *getattr(one.slice, "dims", ())]:
                if isinstance(part, ast.Slice):
                    yield from _last(part.lower, name, scope) or filter(None, [None if part.lower else part.upper])


def _new_value(name: str, node: ast.AST, scope: _Scope) -> Optional[ast.AST]:
    """What something of this name is given, by an assignment or by `assign()`."""
    if isinstance(node, ast.Call) and name_called(node) == "assign" and isinstance(node.func, ast.Attribute):
        return node.args[0] if node.args and tail(node.func.value, scope.aliases) == name else None
    names = [tail(_whole(target), scope.aliases) for target in node.targets] if isinstance(node, ast.Assign) else []
    return node.value if name in names else None  # type: ignore[attr-defined]


def _whole(target: ast.AST) -> ast.AST:
    """`rows` of `rows[:]`."""
    is_slice = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
    return target.value if is_slice else target  # type: ignore[attr-defined]


def _slice(target: ast.Subscript, side: str) -> Optional[ast.AST]:
    return getattr(target.slice, side) if isinstance(target.slice, ast.Slice) else None


def _last(node: Optional[ast.AST], name: str, scope: _Scope) -> List[ast.AST]:
    """100 of `-100`, and of `len(rows) - 100`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [node.operand]
    is_rest = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_length(name, node.left, scope)
    return [node.right] if is_rest else []  # type: ignore[union-attr]


def _window(name: str, node: ast.AST, scope: _Scope) -> Iterator[ast.AST]:
    """How far behind the newest key is the one that is taken out."""
    keys: List[Any] = []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
        keys = node.args[:1] if tail(node.func.value, scope.aliases) == name else []
    elif isinstance(node, ast.Delete):
        subscripts = [one for one in node.targets if isinstance(one, ast.Subscript)]
        keys = [what_is_in_brackets(one) for one in subscripts if tail(one.value, scope.aliases) == name]
    for key in keys:
        for one in ast.walk(key):
            if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub):
                yield one.right


# -- `ring[step % 100] = x`


def _done_once(scope: _Scope) -> FrozenSet[int]:
    """The ids of what is done only where a key is not yet there: `if key not in known: known[key] = x`."""
    found: List[ast.AST] = []
    for node in scope.nodes:
        test = getattr(node, "test", None)
        kinds = [type(one) for part in ast.walk(test) for one in getattr(part, "ops", ())] if test is not None else []
        if isinstance(node, ast.If) and (ast.NotIn in kinds or ast.In in kinds):
            found += node.body if ast.NotIn in kinds else node.orelse
    return frozenset(id(part) for one in found for part in ast.walk(one))


def _keys(name: str, node: ast.AST, scope: _Scope) -> Iterator[ast.AST]:
    """At what it is written to."""
    for target in targets_of(node):
        if isinstance(target, ast.Subscript) and tail(target.value, scope.aliases) == name:
            yield what_is_in_brackets(target)
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr == "setdefault":
        yield from node.args[:1] if tail(called.value, scope.aliases) == name else ()  # type: ignore[attr-defined]


def _moduli(key: Any, local: Dict[str, ast.AST], depth: int = 4) -> Optional[List[ast.AST]]:
    """The moduli of a key of which every part comes round, or is a constant; None where one may be ever new."""
    if depth == 0:
        return None
    if is_constant(key) or text_in(key):
        return []
    if isinstance(key, ast.BinOp) and isinstance(key.op, ast.Mod):
        return _moduli(key.right, local, depth - 1) if text_in(key.left) else [key.right]
    parts: List[Any]
    if isinstance(key, ast.BinOp):
        parts = [key.left, key.right]
    elif isinstance(key, ast.Tuple):
        parts = key.elts
    elif type(key).__name__ == "JoinedStr":
        parts = key.values
    elif type(key).__name__ == "FormattedValue":
        parts = [key.value]
    elif isinstance(key, ast.Call) and name_called(key) in _AS_TEXT:
        parts = key.args
    elif isinstance(key, ast.Name) and key.id in local:
        parts = [local[key.id]]
    else:
        return None
    found: List[ast.AST] = []
    for part in parts:
        moduli = _moduli(part, local, depth - 1)
        if moduli is None:
            return None
        found += moduli
    return found
