"""What is baked into a trace: Python state that has changed since, or that the trace itself changed, and large data."""

from __future__ import annotations

import dis
from types import FunctionType
from typing import Any, Callable, Dict, Hashable, List, NamedTuple, Optional, Set, Tuple

from ..ledger.site import attributes_of
from ..model import Site
from ..units import size_of

_MOST_NAMES = 32
_COUNTED = frozenset(("int", "float", "str", "bytes"))  # not a bool or None: those say that something was made once
_PLAIN = frozenset(map(id, (bool, int, float, str, bytes, type(None))))  # a metaclass may hash in Python
State = Tuple[Tuple[str, Hashable], ...]


class Source(NamedTuple):
    """Where a traced function finds what it does not get as an argument; holds neither alive."""

    function: Callable[[], Optional[FunctionType]]
    instance: Callable[[], Any]  # of a method


def nothing() -> None:
    """There is no such thing."""


def state_of(source: Source) -> State:
    """The values of Python's own types that the code of a function reads by name; runs no code of the program."""
    function = source.function()
    if function is None:
        return ()
    code = function.__code__
    found: Dict[str, Hashable] = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            _take(found, name, cell.cell_contents)
        except ValueError:
            continue  # not filled yet
    names = code.co_names[: 4 * _MOST_NAMES]
    for name in names:
        if name in function.__globals__:
            _take(found, name, function.__globals__[name])
    attributes = attributes_of(source.instance())
    for name in names:
        if name in attributes:
            _take(found, "self." + name, attributes[name])
    return tuple(found.items())


def _take(found: Dict[str, Hashable], name: str, value: Any) -> None:
    if id(type(value)) in _PLAIN and len(found) < _MOST_NAMES:
        found[name] = (type(value).__name__, hash(value))


class BakedIn(NamedTuple):
    """Something that a trace holds on to."""

    function: str
    site: Site
    what: str
    bytes: int = 0
    name: str = ""  # of the state that it is about

    def __str__(self) -> str:
        kept = " (%s in each trace)" % size_of(self.bytes) if self.bytes else ""
        return "%s: %s%s" % (self.site.short, self.what, kept)


def changed(function: str, line: Tuple[str, int], source: Source, then: State) -> List[BakedIn]:
    """What was read when a function was traced, and is another now."""
    before, read = dict(then), _read(source.function())
    site = Site(line[0], line[1], function)
    told = "`%s` has changed since `%s` was traced, and the trace uses the old value"
    return [
        BakedIn(function, site, told % (name, function), name=name)
        for name, token in state_of(source)
        if name in before and before[name] != token and name in read
    ]


def changed_by_trace(
    function: str, line: Tuple[str, int], source: Source, before: State, after: State
) -> List[BakedIn]:
    """What the traced code itself changed: that happens in each trace, and in no call of one."""
    then, code = dict(before), source.function()
    names = [
        name for name, token in after if _is_counted(then.get(name)) and _is_counted(token) and then[name] != token
    ]
    if not names or code is None:
        return []
    written, read = _written(code), _read(code)
    told = "`%s` is changed when `%s` is traced, and by no call after that. Make it a tf.Variable and assign to that, "
    told += "or change it outside the tf.function"
    return [
        BakedIn(function, Site(line[0], written.get(name, line[1]), function), told % (name, function), name=name)
        for name in names
        if name in written or name in read
    ]


def _is_counted(token: Any) -> bool:
    return token is not None and token[0] in _COUNTED


def _written(function: FunctionType) -> Dict[str, int]:
    """The names that a function writes, with the first line of each; an attribute is taken for one of `self`."""
    found: Dict[str, int] = {}
    line = function.__code__.co_firstlineno
    for step in dis.get_instructions(function):
        starts = getattr(step, "line_number", step.starts_line)  # since Python 3.13 the other says only whether
        line = line if starts is None else starts
        if step.opname in ("STORE_GLOBAL", "STORE_DEREF"):
            found.setdefault(str(step.argval), line)
        elif step.opname == "STORE_ATTR":
            found.setdefault("self.%s" % step.argval, line)
    return found


def _read(function: Optional[FunctionType]) -> Set[str]:
    """The names that a function reads: its globals, its closure, attributes of `self`."""
    if function is None:
        return set()
    found = set(function.__code__.co_freevars)
    last = ""
    for step in dis.get_instructions(function):
        if step.opname.startswith("LOAD_GLOBAL"):
            found.add(str(step.argval))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and last == "self":
            found.add("self.%s" % step.argval)
        loaded = step.argval if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else ""
        last = loaded[-1] if type(loaded) is tuple else loaded  # Python 3.13 loads two at once
    return found
