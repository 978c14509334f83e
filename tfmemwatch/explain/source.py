"""Lines of the user's source: those that put things into a collection, renew it, call a function or make an object."""

from __future__ import annotations

import ast
import sys
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Set, Tuple

from ..ledger.site import file_of, is_project
from ..model import Site
from .syntax import CONSTRUCTS, LEADS_ON, Part, carries_on, name_called, names_in, parsed, tail, targets_of, walk

_PUTS = frozenset(
    "append add extend insert appendleft extendleft setdefault update put push put_nowait __setitem__".split()
)

_FUNCTIONS_THAT_PUT = frozenset("heappush insort insort_left insort_right setattr".split())

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
        tree = parsed(file, name)
        if tree is not None:
            found.extend(_in_tree(tree, name, file, anyhow))
    return found


def renewing(name: str, files: Iterable[str], attributes_only: bool = False) -> List[Site]:
    """The lines that give what is called `name` a new value, elsewhere than where it is made."""
    found = []
    for file in files:
        tree = parsed(file, name)
        for part in walk(tree) if tree is not None else ():
            is_new = isinstance(part.node, ast.Assign) and part.function not in CONSTRUCTS
            targets = targets_of(part.node) if is_new else []
            if attributes_only:
                targets = [target for target in targets if not isinstance(target, ast.Name)]
            if name in map(tail, targets):
                found.append(Site(file, part.node.lineno, part.function))
    return found


def summed_up(sites: Iterable[Site]) -> Optional[Site]:
    """The first of these lines on which a total is carried on: `total += loss`."""
    trees: Dict[str, Optional[ast.AST]] = {}
    for site in sites:
        if site.file not in trees:
            trees[site.file] = parsed(site.file)
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
        tree = parsed(file, module)
        if tree is None:
            continue
        parts = list(walk(tree))
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


def calling(name: str, files: Iterable[str], plain: bool = False) -> List[Site]:
    """The lines that call something of this name; `plain` ones without an argument only."""
    found = []
    for file in files:
        tree = parsed(file, name)
        for part in walk(tree) if tree is not None else ():
            node = part.node
            if (
                isinstance(node, ast.Call)
                and name_called(node) == name
                and not (plain and (node.args or node.keywords))
            ):
                found.append(Site(file, node.lineno, part.function))
    return found


def making(name: str, files: Iterable[str]) -> List[Site]:
    """The lines that make an object whose class gives it an attribute of this name, and no beginning does."""
    files = list(files)
    kinds: Set[str] = set()
    for file in files:
        tree = parsed(file, name)
        for part in walk(tree) if tree is not None else ():
            if part.owner and part.function in CONSTRUCTS:
                kinds.update(part.owner for target in targets_of(part.node) if name in _field(target, part.function))
    return [site for kind in kinds for site in calling(kind, files) if site.function not in CONSTRUCTS]


def _field(target: ast.AST, function: str) -> Tuple[str, ...]:
    """The attribute that an assignment gives: `self.parent = …` in a constructor, `parent: Node` in a class."""
    if isinstance(target, ast.Attribute):
        return (target.attr,)
    return (target.id,) if isinstance(target, ast.Name) and function == "<module>" else ()


def _in_tree(tree: ast.AST, name: str, file: str, anyhow: bool) -> Iterable[Line]:
    """What puts into the collection itself first, then what puts into something inside it."""
    found: Dict[int, Tuple[int, Line]] = {}
    for part in walk(tree):
        target = filled(part, anyhow)
        names = names_in(target, part.aliases)
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
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEADS_ON
    return isinstance(node, ast.Subscript) or is_call


def filled(part: Part, anyhow: bool) -> Optional[ast.AST]:
    """What a node puts something into."""
    node, aliases = part.node, part.aliases
    if isinstance(node, ast.Call):
        function = aliases.get(node.func.id, node.func) if isinstance(node.func, ast.Name) else node.func
        if isinstance(function, ast.Attribute) and (function.attr in _PUTS or anyhow):
            return function.value
        return node.args[0] if name_called(node) in _FUNCTIONS_THAT_PUT and node.args else None
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.BitOr)):
        return node.target
    if isinstance(node, ast.Assign) and carries_on(node, tail(node.targets[0])):
        return node.targets[0]
    return next((target.value for target in targets_of(node) if isinstance(target, ast.Subscript)), None)
