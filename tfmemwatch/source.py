"""Which line of the user's source puts things into a collection of a given name."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from typing import Any, Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Set, Tuple

from .model import Site
from .site import file_of, is_project

_PUTS = frozenset("append add extend insert appendleft extendleft setdefault update put push put_nowait".split())
_TAKES = frozenset("pop popitem popleft remove discard clear get_nowait".split())
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


def putting_into(name: str, files: Iterable[str], anyhow: bool = False) -> List[Line]:
    """The lines that put something into what is called `name`, in the order of the files; `anyhow`: by any method."""
    found: List[Line] = []
    for file in files:
        tree = _parsed(file, name)
        if tree is not None:
            found.extend(_in_tree(tree, name, file, anyhow))
    return found


def may_bound(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some line keeps what has one of these names, in one of these classes, from growing for ever.

    It takes things out, compares its length, or begins anew elsewhere than in the constructor.
    """
    wanted, classes = set(names), set(owners)
    tree = _parsed(file)
    for owner, function, node in _walk(tree, "", "<module>") if tree is not None else ():
        if classes and owner not in classes:
            continue
        if _takes(node) in wanted or wanted.intersection(_measured(node)):
            return True
        if function not in ("__init__", "<module>") and wanted.intersection(_renews(node)):
            return True
    return False


def measures(names: Iterable[str], file: str, owners: Iterable[str] = ()) -> bool:
    """Whether some condition asks for the length of what has one of these names, in one of these classes."""
    wanted, classes = set(names), set(owners)
    tree = _parsed(file)
    nodes = _walk(tree, "", "<module>") if tree is not None else ()
    return any(wanted.intersection(_measured(node)) for owner, _, node in nodes if not classes or owner in classes)


def _takes(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES:
        return _tail(node.func.value)
    targets = node.targets if isinstance(node, ast.Delete) else ()
    return next((_tail(target.value) for target in targets if isinstance(target, ast.Subscript)), "")


def _measured(node: ast.AST) -> List[str]:
    """What a condition asks the length of: `if len(self.rows) > 100`; but not `ids[word] = len(ids)`."""
    if not isinstance(node, ast.Compare):
        return []
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and _called(one) == "len" and one.args]
    return [_tail(one.args[0]) for one in calls]


def _renews(node: ast.AST) -> List[str]:
    """The names that get a new value: `self.rows = []`, `rows[:] = rows[-9:]`; but no list that is made once.

    A local name counts where a loop makes it anew.
    """
    if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
        inner = [one for one in ast.walk(node) if isinstance(one, ast.Assign)]
        return [target.id for one in inner for target in one.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.Global):
        return node.names
    if not isinstance(node, ast.Assign):
        return []
    names = [target.attr for target in node.targets if isinstance(target, ast.Attribute)]
    sliced = [target.value for target in node.targets if isinstance(target, ast.Subscript) and _is_slice(target)]
    return names + [_tail(value) for value in sliced]


def _is_slice(target: ast.Subscript) -> bool:
    return isinstance(target.slice, ast.Slice)


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
        nodes = list(_walk(tree, "", "<module>"))
        names = {
            alias.asname or alias.name
            for _, _, node in nodes
            if isinstance(node, ast.ImportFrom) and node.module == module
            for alias in node.names
        }
        for _, function, node in nodes:
            if isinstance(node, ast.Call) and function != "<module>" and _is_of(node.func, module, names):
                found.append(Site(file, node.lineno, function))
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
        for _, function, node in _walk(tree, "", "<module>") if tree is not None else ():
            if isinstance(node, ast.Call) and _called(node) == name and not (plain and (node.args or node.keywords)):
                found.append(Site(file, node.lineno, function))
    return found


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


def _in_tree(tree: ast.AST, name: str, file: str, anyhow: bool) -> Iterable[Line]:
    lines: Set[int] = set()
    for owner, function, node in _walk(tree, "", "<module>"):
        if (_puts(node, name) or (anyhow and _calls_a_method_of(node, name))) and node.lineno not in lines:
            lines.add(node.lineno)
            yield Line(Site(file, node.lineno, function), owner)


def _walk(node: ast.AST, owner: str, function: str) -> Iterable[Tuple[str, str, Any]]:
    """Every node with the class and the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        outer = child.name if isinstance(child, ast.ClassDef) else owner
        inner = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        yield outer, inner, child
        yield from _walk(child, outer, inner)


def _puts(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _PUTS and _tail(node.func.value) == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and _tail(target.value) == name for target in node.targets)
    if isinstance(node, ast.AugAssign):
        target = node.target
        return isinstance(node.op, (ast.Add, ast.BitOr)) and _tail(target) == name
    return False


def _calls_a_method_of(node: ast.AST, name: str) -> bool:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_call and _tail(node.func.value) == name  # type: ignore[attr-defined]


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
