"""Numbers that a program names where it takes something out of a collection: a length, an age, a count of calls.

Whether one of them bounds it is not known. Until the collection is longer than the largest, one may.
"""

from __future__ import annotations

import ast
import functools
import itertools
import operator
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from .bounds import bounding, tests_in
from .calls import OWN, called, calls_in
from .size_limits import number_in
from .syntax import Part, name_called, pairs_of, parsed, tail, targets_of, walk

_CHOOSE = frozenset("min max int round randint randrange integers".split())  # functions: of numbers they are given
_DEEPEST = 4  # steps from a name to the number that it was given
_MOST_VALUES = 8  # that one name is given
_MOST = 5000  # a larger number is no length that is reached soon: bytes, or seconds of a clock


Given = Tuple[ast.AST, Part]  # an expression, and where it stands


def largest_number(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> int:
    """The largest number by which a collection of this name may be kept, in its own code or in that of others."""
    return _largest_number(tuple(names), file, tuple(owners))


@functools.lru_cache(maxsize=256)
def _largest_number(names: Tuple[str, ...], file: str, owners: Tuple[str, ...]) -> int:
    tree = parsed(file)
    parts = list(walk(tree)) if tree is not None else []
    takers = {(part.owner, part.function) for part in bounding(set(names), set(owners), parts)}
    takers -= {(owner, "<module>") for owner, _ in takers} | tests_in(parts)
    return max((one for one in _Program(parts).numbers(takers) if one <= _MOST), default=0) if takers else 0


class _Program:
    """The source of one file, asked for what its names are given."""

    def __init__(self, parts: List[Part]) -> None:
        self._parts = parts
        self._calls = list(calls_in(parts))
        self._values: Dict[Tuple[str, str], List[Given]] = {}  # by function or class, and name in it
        for part in parts:
            self._read(part)
        for call in self._calls:
            for name, value in call.given.items():
                self._give((call.function, name), value, call.part)

    def _read(self, part: Part) -> None:
        node = part.node
        pairs = pairs_of(node) if isinstance(node, ast.Assign) else [(one, node.value) for one in targets_of(node)]
        for target, value in pairs:
            self._give(_place(target, part), value, part)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            last = given.args[len(given.args) - len(given.defaults) :]
            for one, value in [*zip(last, given.defaults), *zip(given.kwonlyargs, given.kw_defaults)]:
                self._give((called(part.owner, node.name), one.arg), value, part)

    def _give(self, place: Tuple[str, str], value: Optional[ast.AST], part: Part) -> None:
        if place[1] and value is not None:
            self._values.setdefault(place, []).append((value, part))

    def _given(self, node: ast.AST, part: Part) -> List[Given]:
        """What a name is given: in its function, else in the module; an attribute in its class, else in any."""
        place = _place(node, part)
        found = self._values.get(place) or (
            self._values.get(("<module>", place[1])) if isinstance(node, ast.Name) else None
        )
        if found is None and isinstance(node, ast.Attribute):
            found = [one for (_, name), values in self._values.items() if name == place[1] for one in values]
        return (found or [])[:_MOST_VALUES]

    def numbers(self, takers: Set[Tuple[str, str]]) -> Iterator[int]:
        """All numbers that stand in functions, each of its class, where something is taken out, or that call one."""
        names = {called(owner, function) for owner, function in takers}
        asked = takers | {(one.part.owner, one.part.function) for one in self._calls if one.function in names}
        sized = {owner for owner, function in takers if function == "__getitem__"}
        rounds: Dict[Tuple[str, str], Set[int]] = {}  # of remainders: a key made of them has as many values
        for part in self._parts:
            if part.function == "__len__" and part.owner in sized and isinstance(part.node, ast.Return):
                yield from self._numbers_of(part.node.value, part, _DEEPEST)
            if (part.owner, part.function) not in asked:
                continue
            for side in _compared(part.node, (part.owner, part.function) in takers):
                yield from self._numbers_of(side, part, _DEEPEST)
            modulus = part.node.right if isinstance(getattr(part.node, "op", None), ast.Mod) else None
            found = self._numbers_of(modulus, part, _DEEPEST) if modulus is not None else ()
            rounds.setdefault((part.owner, part.function), set()).update(found)
        for numbers in rounds.values():
            yield functools.reduce(operator.mul, numbers, 1 if numbers else 0)

    def _numbers_of(self, node: Any, part: Part, depth: int) -> Iterator[int]:
        """What an expression of a function may come to: its own numbers, and what its names are given."""
        number = number_in(node)
        if number is not None:
            yield abs(number)
        elif depth and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [list(self._numbers_of(side, part, depth - 1)) for side in (node.left, node.right)]
            yield from (left * right for left, right in itertools.islice(itertools.product(*sides), _MOST_VALUES))
        elif depth:
            for one, within in self._made_of(node, part):
                yield from self._numbers_of(one, within, depth - 1)

    def _made_of(self, node: Any, part: Part) -> List[Given]:
        """The sides of an expression, or what a name is given."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._given(node, part)
        if isinstance(node, ast.Call):
            return [(one, part) for one in node.args] if name_called(node) in _CHOOSE else []
        is_sum = isinstance(node, ast.UnaryOp) or isinstance(getattr(node, "op", None), (ast.Add, ast.Sub))
        return [(one, part) for one in ast.iter_child_nodes(node)] if is_sum else []


def _place(node: Any, part: Part) -> Tuple[str, str]:
    """Where a name belongs, and the name: to the function, or to the class whose attribute it is."""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in OWN
    return (part.owner if is_own else called(part.owner, part.function), tail(node))


def _compared(node: ast.AST, takes: bool) -> List[Any]:
    """What a comparison is made of; where something is taken out, a difference or a slice, too."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if takes and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return [node.right]
    return [node.lower, node.upper] if takes and isinstance(node, ast.Slice) else []
