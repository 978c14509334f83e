"""Who holds a thing: the shortest way to it from the program's own names. On request, bounded, keeping nothing."""

from __future__ import annotations

import functools
import gc
import re
import sys
import threading
import time
from collections import deque
from itertools import chain, islice
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Tuple

from . import frames
from .model import count_of
from .site import attribute_of, attributes_of, is_a_name, is_framework, is_users

SECONDS = 0.2  # for a search, in the background
CALLERS_SECONDS = 0.04  # and in a thread of the program's
_MOST_SEEN = 60000  # things of one search
_MOST_CHILDREN = 400  # of one collection that are looked into; all are compared with what is looked for
_MOST_TOLD = 50  # steps from either end of a way: what is longer is a chain
_COMPARED_A_SECOND = 10000000
_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), BuiltinFunctionType, type(sys.implementation)))
_LOCAL = " of "
_REPEATED = re.compile(r"(\.\w+)\1\1+")  # a chain: `.next.next.next`
_Root = Tuple[str, Any]
_Module = Tuple[str, Dict[str, Any]]


class _Search:
    """Breadth first from the names; remembers by which thing each one was reached."""

    def __init__(self, goals: Dict[int, Any], until: float, clock: Callable[[], float], most: int) -> None:
        self._goals = goals
        self._most = most  # of one collection that are compared
        self._until = until
        self._clock = clock
        self._seen: Dict[int, Any] = {}  # by id of a thing: what led to it; ids are good as long as we hold them
        self._alive: List[Any] = []
        self._variable: Optional[List[Any]] = None  # of a loop, as like as not: it holds one, and not for long
        self._skipped = {id(self), id(goals), id(self._seen), id(self._alive)}

    def run(self, stages: Iterable[Iterable[_Root]]) -> Optional[List[Any]]:
        """The root and all things from its value to the goal; names that are nearer to the program come first."""
        for stage in stages:
            found = self._from(stage)
            if found is not None or self._is_late():
                return found or self._variable
        return self._variable

    def _from(self, roots: Iterable[_Root]) -> Optional[List[Any]]:
        queue: Deque[Any] = deque()
        self._skipped.update((id(queue), id(self.__dict__)))
        for root in roots:
            value = root[1]
            if id(value) in self._goals:
                if _LOCAL not in root[0]:
                    return [root, value]
                self._variable = [root, value]
            elif self._enters(value) and id(value) not in self._seen:
                self._reach(value, root)
                queue.append(value)
        while queue and not self._is_late():
            thing = queue.popleft()
            children = _ends(thing, self._most) or _referents(thing)
            if not self._goals.keys().isdisjoint(map(id, children)):
                found = next((child for child in children if id(child) in self._goals), None)
                if found is not None and found is not thing:
                    return [*self._way(thing), found]
            if len(children) > _MOST_CHILDREN:
                children = children[: _MOST_CHILDREN // 2] + children[-_MOST_CHILDREN // 2 :]
            for child in children:
                if id(child) not in self._seen and self._enters(child):
                    self._reach(child, thing)
                    queue.append(child)
        return None

    def _is_late(self) -> bool:
        return len(self._seen) > _MOST_SEEN or self._clock() > self._until

    def _reach(self, thing: Any, by: Any) -> None:
        self._seen[id(thing)] = by
        self._alive.append(thing)

    def _enters(self, thing: Any) -> bool:
        kind = type(thing)
        if kind in _PLAIN or id(thing) in self._skipped or kind is ModuleType or kind is FrameType:
            return False
        if not gc.is_tracked(thing) and kind is not dict:
            return False
        module = getattr(kind, "__module__", "") or ""
        if isinstance(module, str) and module.startswith("tfmemwatch"):
            return False
        if kind is type:  # classes lead everywhere; those of the program hold what they were given
            return is_users(getattr(thing, "__module__", ""))
        return kind is not dict or not ("__builtins__" in thing and "__name__" in thing)

    def _way(self, thing: Any) -> List[Any]:
        way = [thing]
        while len(way) <= _MOST_SEEN:
            by = self._seen.get(id(way[-1]))
            if by is None:
                break
            way.append(by)
            if type(by) is tuple and len(by) == 2 and id(by) not in self._seen:
                break  # the root
        way.reverse()
        return way if len(way) <= 2 * _MOST_TOLD else way[:_MOST_TOLD] + way[-_MOST_TOLD:]


def _ends(thing: Any, most: int) -> List[Any]:
    """The first and the last things in a collection of more than so many; nothing for any other."""
    kind = type(thing)
    base: Any = next((one for one in (list, tuple, dict) if issubclass(kind, one)), None)
    if base is None or base.__len__(thing) <= most:
        return []
    if base is not dict:
        return [*base.__getitem__(thing, slice(most // 2)), *base.__getitem__(thing, slice(-most // 2, None))]
    values = dict.values(thing)
    backwards = reversed(values) if hasattr(values, "__reversed__") else iter(())  # since Python 3.8
    return [*islice(values, most // 2), *islice(backwards, most // 2)]


def _referents(thing: Any) -> List[Any]:
    if type(thing) is FunctionType:  # its globals are everybody's
        closure = thing.__closure__
        found = [one for one in gc.get_referents(thing) if one is not thing.__globals__ and one is not closure]
        return [*(closure or ()), *found]
    if type(thing) in frames.SUSPENDED:
        return [value for _, value in frames.variables_of(thing)]
    return gc.get_referents(thing)


# -- where a search begins


def roots() -> Iterator[Iterator[_Root]]:
    """All names of the program, the nearest first: globals and locals of running functions, then those of libraries."""
    mine: List[_Module] = []
    libraries: List[_Module] = []
    frameworks: List[_Module] = []
    seen = set()
    for name, module in list(sys.modules.items()):
        names = attributes_of(module)
        if name.split(".")[0] == "tfmemwatch" or not names or id(names) in seen:
            continue
        seen.add(id(names))
        if is_users(name):
            mine.append((name, names))
        else:
            (frameworks if is_framework(name) else libraries).append((name, names))
    yield chain(_globals(mine), _locals())
    yield _globals(libraries)
    yield _globals(frameworks)


def _globals(modules: List[_Module]) -> Iterator[_Root]:
    for module, names in modules:
        for name, value in list(names.items()):
            if type(name) is str and not name.startswith("__"):
                short = name if module == "__main__" else "%s.%s" % (module.rsplit(".", 1)[-1], name)
                yield short, value


def _locals() -> Iterator[_Root]:
    near = (threading.get_ident(), threading.main_thread().ident)
    for one in frames.running():
        place = "%s%s()%s" % (_LOCAL, one.function, "" if one.thread in near else " in a thread")
        for name, value in one.variables:
            yield name + place, value


# -- what is found, in words


def path_to(
    things: Iterable[Any], seconds: float, clock: Callable[[], float] = time.perf_counter,
    begin: Callable[[], Iterator[Iterator[_Root]]] = roots,
) -> str:  # fmt: skip
    """`train.history (list, 4,312 items) → [0] → EagerTensor`; nothing where none is found in this time."""
    goals = {id(thing): thing for thing in things}
    if not goals:
        return ""
    most = int(seconds * _COMPARED_A_SECOND)
    search = _Search(goals, clock() + seconds, clock, most)
    found = search.run(begin())
    return _told(found) if found is not None else ""


def _told(way: List[Any]) -> str:
    (root, _), things = way[0], way[1:]
    name, of, function = root.partition(_LOCAL)
    parts = [(name, _size(things[0]))]
    owner, index = things[0], 1
    while index < len(things):
        thing, last = things[index], index == len(things) - 1
        step = _step(owner, thing)
        if type(thing) is dict and not last and _is_inner(owner, thing):  # its attributes: named from the object
            index += 1
            thing, last = things[index], index == len(things) - 1
            step = "." + (_step_in_dict(things[index - 1], thing) or "…").strip('[]"')
        if step is not None:
            _add(parts, step, thing, _is_folded(owner), last)
        owner = thing
        index += 1
    kind = type(things[-1]).__name__
    parts[0] = (parts[0][0] + of + function, parts[0][1])
    parts = [(_REPEATED.sub(r"\1…", label), size) for label, size in parts]
    words = [label + (" (%s)" % size if size and size != kind else "") for label, size in parts]
    return " → ".join([*words, kind])


def _add(parts: List[Tuple[str, str]], step: str, thing: Any, is_folded: bool, is_last: bool) -> None:
    """One more step; an attribute is written behind what it is one of, and TensorFlow's own are one."""
    label, _ = parts[-1]
    if is_folded:
        if label != "…" and not is_last:
            parts.append(("…", ""))
    elif step.startswith(".") and label != "…":
        parts[-1] = (label + step, _size(thing))
    elif step:
        parts.append((step.lstrip("."), _size(thing)))


def _size(thing: Any) -> str:
    kind = type(thing)
    base = next((one for one in _SIZED if issubclass(kind, one)), None)
    if base is not None:
        length = base.__len__(thing)
        return "%s, %s item%s" % (kind.__name__, count_of(length), "" if length == 1 else "s")
    is_named = kind in _NAMED or kind.__name__ == "cell" or issubclass(kind, type)
    return "" if is_named else kind.__name__


_SIZED: Tuple[Any, ...] = (list, tuple, dict, set, frozenset, deque)
_NAMED = frozenset((FunctionType, MethodType))


def _is_inner(owner: Any, thing: Any) -> bool:
    """Whether a dict is where an object keeps its attributes."""
    if issubclass(type(owner), type):
        return True
    return attributes_of(owner) is thing


def _is_folded(thing: Any) -> bool:
    """Whether a step is TensorFlow's own affair."""
    return is_framework(getattr(type(thing), "__module__", ""))


def _step(owner: Any, thing: Any) -> Optional[str]:
    """How one gets from a thing to the next, as one would write it."""
    kind = type(owner)
    if issubclass(kind, dict):
        return _step_in_dict(owner, thing)
    if issubclass(kind, (list, tuple, deque)):
        base = next(one for one in (list, tuple, deque) if issubclass(kind, one))
        iterator: Any = base.__iter__(owner)
        return next(("[%d]" % index for index, item in enumerate(iterator) if item is thing), None)
    if issubclass(kind, (set, frozenset)):
        return "an item"
    if kind is FunctionType:
        return _step_in_function(owner, thing)
    if kind is MethodType:
        return ".__self__"
    if kind is functools.partial:
        return "its arguments"
    if kind.__name__ == "cell":
        return ""
    if kind.__name__ == "_lru_cache_wrapper":
        return "its cache"
    if kind in frames.SUSPENDED:
        return next((name for name, value in frames.variables_of(owner) if value is thing), None)
    if thing is attributes_of(owner):
        return None
    name = attribute_of(owner, thing)
    return None if name is None else ".%s" % name


def _step_in_dict(owner: Dict[Any, Any], thing: Any) -> Optional[str]:
    for key, value in list(dict.items(owner)):
        if value is thing:
            if type(key) is str:
                return '["%s"]' % key if is_a_name(key) else "[…]"
            return "[%d]" % key if type(key) is int else "[%s]" % type(key).__name__
        if key is thing:
            return "a key"
    return None


def _step_in_function(owner: Any, thing: Any) -> Optional[str]:
    for name, cell in zip(owner.__code__.co_freevars, owner.__closure__ or ()):
        if cell is thing:
            return "closure `%s`" % name
    return "its defaults" if thing is owner.__defaults__ or thing is owner.__kwdefaults__ else None
