"""Which line of the user's source puts things into a collection of a given name."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from types import MappingProxyType
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)  # fmt: skip

from .model import Site
from .site import file_of, is_project

_PUTS = frozenset(
    "append add extend insert appendleft extendleft setdefault update put push put_nowait __setitem__".split()
)
_TAKES = frozenset(
    "pop popitem popleft remove discard clear get_nowait difference_update intersection_update __delitem__".split()
)
_FUNCTIONS_THAT_PUT = frozenset("heappush insort insort_left insort_right setattr".split())
_FUNCTIONS_THAT_TAKE = frozenset("heappop heappushpop heapreplace".split())
_LEADS_ON = frozenset("setdefault get __getitem__".split())  # methods that lead from a collection to what is in it
_CONSTRUCTS = frozenset("__init__ __new__ __post_init__ setup build <module>".split())  # a beginning is no renewal
_MOST_FILES = 400


def project_files(first: Iterable[str] = ()) -> List[str]:
    """The source files of the user's own code that are loaded, the likeliest first."""
    files = [file for file in first if file and is_project(file)]
    for module in list(sys.modules.values()):
        file = file_of(module)
        if file.endswith(".py") and is_project(file):
            files.append(file)
    for frame in list(sys._current_frames().values()):
        at: Any = frame
        while at is not None:
            if is_project(at.f_code.co_filename):
                files.append(at.f_code.co_filename)
            at = at.f_back
    return list(dict.fromkeys(files))[:_MOST_FILES]


class Line(NamedTuple):
    """A line, and the class in whose body it stands."""

    site: Site
    owner: str
    is_inside: bool = False  # whether it puts into something that is in there: `rows[key].append(x)`


def putting_into(name: str, files: Iterable[str], anyhow: bool = False) -> List[Line]:
    """The lines that put something into what is called `name`, in the order of the files; `anyhow`: by any method."""
    found: List[Line] = []
    for file in files:
        tree = _parsed(file, name)
        if tree is not None:
            found.extend(_in_tree(tree, name, file, anyhow))
    return found


def renewing(name: str, files: Iterable[str], attributes_only: bool = False) -> List[Site]:
    """The lines that give what is called `name` a new value, elsewhere than where it is made."""
    found = []
    for file in files:
        tree = _parsed(file, name)
        for part in _walk(tree) if tree is not None else ():
            is_new = isinstance(part.node, ast.Assign) and part.function not in _CONSTRUCTS
            targets = _targets(part.node) if is_new else []
            if attributes_only:
                targets = [target for target in targets if not isinstance(target, ast.Name)]
            if name in map(_tail, targets):
                found.append(Site(file, part.node.lineno, part.function))
    return found


def may_bound(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some line keeps what has one of these names, in one of these classes, from growing for ever.

    It takes things out, compares its length, begins anew elsewhere than in the constructor, or counts its keys round.
    """
    bounds = (_taken, _measured, _renewed, _keyed_round)
    return _says_any(bounds, names, file, owners)


def measures(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some condition asks for the length of what has one of these names, in one of these classes."""
    return _says_any((_measured,), names, file, owners)


def _says_any(
    questions: Iterable[Callable[[Part], Iterable[str]]], names: Iterable[str], file: str, owners: Iterable[str]
) -> bool:
    wanted, classes = set(names), set(owners)
    tree = _parsed(file)
    parts = (part for part in _walk(tree) if not classes or part.owner in classes) if tree is not None else ()
    return any(wanted.intersection(question(part)) for part in parts for question in questions)


def _taken(part: Part) -> List[str]:
    """What is taken from: by `rows.pop`, called or kept for later, `heappop(rows)`, `del rows[0]`, `rows -= …`."""
    node, aliases = part.node, part.aliases
    if isinstance(node, ast.Attribute) and node.attr in _TAKES:
        return [_tail(node.value, aliases)]
    if isinstance(node, ast.Call) and _called(node) in _FUNCTIONS_THAT_TAKE and node.args:
        return [_tail(node.args[0], aliases)]
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Sub, ast.BitAnd)):
        return [_tail(node.target, aliases)]
    targets = node.targets if isinstance(node, ast.Delete) else ()
    return [_tail(target.value, aliases) for target in targets if isinstance(target, ast.Subscript)]


def _measured(part: Part) -> List[str]:
    """What a condition asks the length of: `if len(self.rows) > 100`; but not `ids[word] = len(ids)`."""
    if not isinstance(part.node, ast.Compare):
        return []
    asked = [part.aliases.get(one.id, one) if isinstance(one, ast.Name) else one for one in ast.walk(part.node)]
    calls = [one for one in asked if isinstance(one, ast.Call) and _called(one) == "len" and one.args]
    return [_tail(one.args[0], part.aliases) for one in calls]


def _renewed(part: Part) -> List[str]:
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
    if isinstance(node, ast.Assign) and part.function not in _CONSTRUCTS:
        return [_renewal(target) for target in _targets(node) if not _carries_on(node, _tail(target))]
    if isinstance(node, ast.Call) and _called(node) == "setattr" and len(node.args) == 3:
        return [_text(node.args[1])]
    return []


def _renewal(target: ast.AST) -> str:
    """What an assignment gives a new value: an attribute, what stands at a key that is spelled out, or a slice."""
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        return _tail(target.value) if _is_slice(target) else _key(target.slice)
    return ""


def _is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _carries_on(node: ast.Assign, name: str) -> bool:
    """Whether the new value is the old one with more in it: `rows = rows + [x]`, `[*rows, x]`, `{**rows, k: x}`."""
    value = node.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.BitOr)):
        return any(_tail(side) == name and not _is_slice(side) for side in (value.left, value.right))
    starred = [one.value for one in getattr(value, "elts", ()) if isinstance(one, ast.Starred)]
    merged = [one for key, one in zip(value.keys, value.values) if key is None] if isinstance(value, ast.Dict) else []
    return any(_tail(one) == name for one in starred + merged)


def _keyed_round(part: Part) -> List[str]:
    """What is written to at a key that comes round: `ring[step % 100] = x`."""
    found = []
    for target in _targets(part.node):
        if isinstance(target, ast.Subscript):
            keys = [one for one in ast.walk(target.slice) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod)]
            found += [_tail(target.value, part.aliases) for key in keys if not _text(key.left)]  # no text is formatted
    return found


def summed_up(sites: Iterable[Site]) -> Optional[Site]:
    """The first of these lines on which a total is carried on: `total += loss`."""
    trees: Dict[str, Optional[ast.AST]] = {}
    for site in sites:
        if site.file not in trees:
            trees[site.file] = _parsed(site.file)
        tree = trees[site.file]
        if tree is not None and any(
            isinstance(node, ast.AugAssign) and node.lineno == site.line for node in ast.walk(tree)
        ):
            return site
    return None


def using(module: str, files: Iterable[str]) -> List[Site]:
    """The lines in functions that call into a library module: `logging.getLogger(...)`, `finalize(...)` of weakref."""
    found = []
    for file in files:
        tree = _parsed(file, module)
        if tree is None:
            continue
        parts = list(_walk(tree))
        names = {
            alias.asname or alias.name
            for part in parts
            if isinstance(part.node, ast.ImportFrom) and part.node.module == module
            for alias in part.node.names
        }
        for part in parts:
            node = part.node
            if isinstance(node, ast.Call) and part.function != "<module>" and _is_of(node.func, module, names):
                found.append(Site(file, node.lineno, part.function))
    return found


def _is_of(function: ast.AST, module: str, names: Set[str]) -> bool:
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == module.rsplit(".", 1)[-1]
    return isinstance(function, ast.Name) and function.id in names


@functools.lru_cache(maxsize=256)
def computed_with(file: str, line: int) -> FrozenSet[str]:
    """The parameters of the function at a line with which it computes, together with something that is no constant."""
    found: Set[str] = set()
    for function in _functions_at(file, line):
        for inner in ast.walk(function):
            if isinstance(inner, ast.BinOp):
                sides = (inner.left, inner.right)
                names = [side.id for side in sides if isinstance(side, ast.Name)]
                found.update(names if not any(map(_is_constant, sides)) else ())
    return frozenset(found)


def _functions_at(file: str, line: int) -> List[Any]:
    """The functions that begin at a line, with their decorators."""
    tree = _parsed(file)
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
        yield getattr(node.slice, "value", node.slice) if type(node.slice).__name__ == "Index" else node.slice
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        if any(isinstance(side, (ast.List, ast.Tuple, ast.ListComp)) for side in (node.left, node.right)):
            yield from (node.left, node.right)
    elif isinstance(node, ast.Call):
        called = _called(node)
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


def _is_constant(node: ast.AST) -> bool:
    return type(node).__name__ in ("Constant", "Num")


def calling(name: str, files: Iterable[str], plain: bool = False) -> List[Site]:
    """The lines that call something of this name; `plain` ones without an argument only."""
    found = []
    for file in files:
        tree = _parsed(file, name)
        for part in _walk(tree) if tree is not None else ():
            node = part.node
            if isinstance(node, ast.Call) and _called(node) == name and not (plain and (node.args or node.keywords)):
                found.append(Site(file, node.lineno, part.function))
    return found


def making(name: str, files: Iterable[str]) -> List[Site]:
    """The lines that make an object whose class gives it an attribute of this name, and no beginning does."""
    files = list(files)
    kinds: Set[str] = set()
    for file in files:
        tree = _parsed(file, name)
        for part in _walk(tree) if tree is not None else ():
            if part.owner and part.function in _CONSTRUCTS:
                kinds.update(part.owner for target in _targets(part.node) if name in _field(target, part.function))
    return [site for kind in kinds for site in calling(kind, files) if site.function not in _CONSTRUCTS]


def _field(target: ast.AST, function: str) -> Tuple[str, ...]:
    """The attribute that an assignment gives: `self.parent = …` in a constructor, `parent: Node` in a class."""
    if isinstance(target, ast.Attribute):
        return (target.attr,)
    return (target.id,) if isinstance(target, ast.Name) and function == "<module>" else ()


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _parsed(file: str, name: str = "") -> Optional[ast.AST]:
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


def _walk(tree: ast.AST) -> Iterator[Part]:
    """Every node of a program."""
    return _below(tree, "", "<module>", {})


def _below(node: ast.AST, owner: str, function: str, aliases: Dict[str, ast.AST]) -> Iterator[Part]:
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        outer = child.name if isinstance(child, ast.ClassDef) else owner
        inner = child.name if is_function else function  # type: ignore[attr-defined]
        names = _aliases(child) if is_function else aliases
        yield Part(outer, inner, child, names)
        yield from _below(child, outer, inner, names)


def _aliases(function: ast.AST) -> Dict[str, ast.AST]:
    """The local names that stand for something that has a name elsewhere: `rows = self.rows`, `add = rows.append`."""
    found: Dict[str, ast.AST] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Attribute, ast.Subscript, ast.Call)):
            found.update((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    return found


def _targets(node: ast.AST) -> List[ast.AST]:
    """What an assignment assigns to, one by one."""
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    whole = node.targets if isinstance(node, ast.Assign) else []
    return [one for target in whole for one in (target.elts if isinstance(target, ast.Tuple) else [target])]


def _in_tree(tree: ast.AST, name: str, file: str, anyhow: bool) -> Iterable[Line]:
    """What puts into the collection itself first, then what puts into something inside it."""
    found: Dict[int, Tuple[int, Line]] = {}
    for part in _walk(tree):
        target = _filled(part, anyhow)
        names = _names(target, part.aliases)
        if name in names:
            line = part.node.lineno
            depth = min(names.index(name), found[line][0] if line in found else len(names))
            is_inside = depth > 0 or _leads_inside(target, part.aliases)
            found[line] = depth, Line(Site(file, line, part.function), part.owner, is_inside)
    return [line for _, line in sorted(found.values(), key=lambda row: row[0])]


def _leads_inside(node: Optional[ast.AST], aliases: Mapping[str, ast.AST]) -> bool:
    """Whether an expression is something in a collection: `rows[key]`, `rows.get(key)`, or a name for that."""
    if isinstance(node, ast.Name) and node.id in aliases:
        return _leads_inside(aliases[node.id], {})
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LEADS_ON
    return isinstance(node, ast.Subscript) or is_call


def _filled(part: Part, anyhow: bool) -> Optional[ast.AST]:
    """What a node puts something into."""
    node, aliases = part.node, part.aliases
    if isinstance(node, ast.Call):
        function = aliases.get(node.func.id, node.func) if isinstance(node.func, ast.Name) else node.func
        if isinstance(function, ast.Attribute) and (function.attr in _PUTS or anyhow):
            return function.value
        return node.args[0] if _called(node) in _FUNCTIONS_THAT_PUT and node.args else None
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.BitOr)):
        return node.target
    if isinstance(node, ast.Assign) and _carries_on(node, _tail(node.targets[0])):
        return node.targets[0]
    return next((target.value for target in _targets(node) if isinstance(target, ast.Subscript)), None)


def _tail(node: Optional[ast.AST], aliases: Mapping[str, ast.AST] = MappingProxyType({})) -> str:
    """The nearest name of an expression: `results` of `self.results`, `state["results"]`, `results[key]`."""
    names = _names(node, aliases)
    return names[0] if names else ""


def _names(node: Optional[ast.AST], aliases: Mapping[str, ast.AST]) -> List[str]:
    """All names by which an expression leads to something, the nearest first; of an attribute only its own."""
    if isinstance(node, ast.Name):
        alias = aliases.get(node.id)
        rest = {name: value for name, value in aliases.items() if name != node.id}
        return [*_names(alias, rest), node.id] if alias is not None else [node.id]
    if isinstance(node, ast.Attribute):
        return _names(node.value, aliases) if node.attr == "__dict__" else [node.attr]
    if isinstance(node, ast.Subscript):
        key = _key(node.slice)
        return ([key] if key else []) + _names(node.value, aliases)
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Attribute) and node.func.attr in _LEADS_ON:
        key = _text(node.args[0]) if node.args else ""
        return ([key] if key else []) + _names(node.func.value, aliases)
    if _called(node) == "getattr" and len(node.args) > 1:
        return [_text(node.args[1])]
    return _names(node.args[0], aliases) if _called(node) == "vars" and node.args else []


def _key(node: Any) -> str:
    """The string in brackets, however this Python spells it."""
    return _key(node.value) if type(node).__name__ == "Index" else _text(node)  # Index before Python 3.9


def _text(node: Any) -> str:
    value = {"Constant": "value", "Str": "s"}.get(type(node).__name__)  # Str before Python 3.8
    found = getattr(node, value) if value else ""
    return found if isinstance(found, str) else ""
