"""By what name the program knows a collection."""

from __future__ import annotations

import collections
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, List, NamedTuple, Optional, Tuple

from ..heap import frames
from ..heap.classes import bases_of, class_named, module_of
from ..heap.parts import index_of, part_of
from ..heap.weights import is_cached
from ..ledger.site import attributes_of, is_a_name, is_framework, is_users
from .search import SECONDS, Way, way_to
from .steps import CELL, COLLECTIONS, Step, is_suspended, owners_on, steps_of

_MOST_UP = 4  # steps of naming up from a collection


class Inner(NamedTuple):
    """The attribute of a library's object that is the container itself."""

    name: str
    module: str
    owners: Tuple[str, ...]


class Holder(NamedTuple):
    """By what name the program knows a container."""

    names: Tuple[str, ...]  # what one would look for in the source, the likeliest first
    path: str  # as one would say it
    module: str  # where its owner is defined, if known
    bound: Optional[int]  # how long it can grow, where it says so
    line: Optional[Tuple[str, int, str]]  # where its owner stands, for what is no name in the source
    owners: Tuple[str, ...] = ()  # the classes of the object whose attribute it is, its bases last
    is_nested: bool = False  # whether what has this name is a collection that holds it
    inner: Optional[Inner] = None  # where what has this name is an object of a library's, and the container inside it
    function: str = ""  # whose variable it is
    way: Optional[Way] = None  # to the container

    @property
    def is_within(self) -> bool:
        """Whether the name is that of something that holds the container."""
        return self.inner is not None


def holder_of(container: Any, seconds: float = SECONDS) -> Optional[Holder]:
    """By what name the program holds a container; None where no name leads to it."""
    way = way_to([id(container)], seconds)
    return holder_at(way) if way is not None else None


def holder_at(way: Way) -> Optional[Holder]:
    """By what name the program holds what stands at the end of a way."""
    owners = owners_on(way)
    if not owners:
        return None
    found = _Naming(way, owners).name(len(way.steps), 0)
    most = part_of(owners[-1], way.steps[-1])
    if most and is_function_cache(type(most[0])):
        found = _in_lru(most.pop())
    elif found is not None and most and issubclass(type(most[0]), collections.deque):
        found = found._replace(bound=collections.deque.maxlen.__get__(most.pop()))
    return found._replace(way=way) if found is not None else None


class _Naming:
    """Names what stands on a way, from its end up to what has a name of the user's."""

    def __init__(self, way: Way, owners: List[Any]) -> None:
        self._way = way
        self._owners = owners
        self._steps = steps_of(way, owners)

    def name(self, at: int, depth: int) -> Optional[Holder]:
        """What the thing is called that so many steps lead to."""
        if at <= 0:
            return None
        owner, step = self._owners[at - 1], self._steps[at - 1]
        before = self._owners[at - 2] if at > 1 else None
        kind, root = type(owner), self._way.root
        if at == 1 and root.ref is None:
            path = step.key if root.function else "%s.%s" % (root.module, step.key)
            return Holder((step.key,), path, root.module, None, None, function=root.function)
        if is_function_cache(kind):
            holder = _in_lru(owner)
            is_result = is_cached(lambda call: call.box([owner]), self._way.steps[at - 1])
            return holder._replace(path=holder.path + "[…]", bound=None, is_nested=True) if is_result else holder
        if issubclass(kind, dict) and not step.is_attribute:
            if dict.__contains__(owner, "__builtins__") or dict.__contains__(owner, "__loader__"):
                module = str(dict.get(owner, "__name__", ""))
                return Holder((step.key,), "%s.%s" % (module, step.key), module, None, None)
            return self._in_dict(at, depth, step)
        if step.is_attribute:
            return self._attribute(at, depth, step, before if issubclass(kind, dict) else owner)
        if kind is CELL and at > 2 and type(self._owners[at - 3]) is FunctionType:
            name = self._steps[at - 2].key
            return Holder((name,), name, self._owners[at - 3].__module__ or "", None, None)
        if kind is tuple and type(before) is FunctionType:
            return _in_defaults(before, self._way.steps[at - 1])
        if is_suspended(kind) or kind is FrameType:
            frame = owner if kind is FrameType else frames.frame_of(owner)
            code: Optional[CodeType] = frame.f_code if frame is not None else None
            if code is None or not step.key:
                return None
            module = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
            path = "%s of %s()" % (step.key, code.co_name)
            return Holder((step.key,), path, module, None, None, function=code.co_name)
        if depth >= _MOST_UP:
            return None
        outer = self.name(at - 1, depth + (kind not in (FunctionType, MethodType, tuple)))
        if outer is None:
            return None
        if issubclass(kind, COLLECTIONS):
            return outer._replace(path=outer.path + "[…]", bound=None, is_nested=True)
        # What TensorFlow has written in C++ names nothing of what it holds: a graph its list of operations.
        return _within(outer, kind, "…") if is_framework(module_of(kind)) else outer

    def _in_dict(self, at: int, depth: int, step: Step) -> Optional[Holder]:
        outer = self.name(at - 1, depth + 1) if depth < _MOST_UP else None
        if outer is not None:
            names = (step.key, *outer.names) if step.key else outer.names
            label = step.label or "[…]"
            short = "['%s']" % step.key if step.key and is_a_name(step.key) else label
            if short[1:2].isdigit():
                short = "[int]"
            return outer._replace(names=names, path=outer.path + short, bound=None, is_nested=True)
        if not step.key:
            return None
        return Holder((step.key,), step.key if is_a_name(step.key) else "a dict", "", None, None)

    def _attribute(self, at: int, depth: int, step: Step, owner: Any) -> Optional[Holder]:
        """An attribute of an object; where that is a library's, the name of the object says more."""
        name = step.key or "…"
        is_inner_dict = issubclass(type(self._owners[at - 1]), dict)
        if issubclass(type(owner), type):
            return Holder((name,), "%s.%s" % (class_named(owner), name), module_of(owner), None, None,
                          (class_named(owner),))  # fmt: skip
        if issubclass(type(owner), ModuleType):
            module = str(attributes_of(owner).get("__name__", ""))
            return Holder((name,), "%s.%s" % (module, name), module, None, None)
        kind = type(owner)
        module, owners = module_of(kind), tuple(map(class_named, bases_of(kind)))
        holder = Holder((name,), "%s.%s" % (class_named(kind), name), module, None, None, owners)
        if is_users(module, True) or depth >= _MOST_UP:
            return holder
        outer = self.name(at - 2 if is_inner_dict else at - 1, depth + 1)
        if outer is None or not is_users(outer.module, True):
            return holder
        if module.startswith("wrapt") or module.endswith("data_structures"):  # what TensorFlow has put around it
            return outer
        return _within(outer, kind, name)


def _within(outer: Holder, kind: type, name: str) -> Holder:
    """What an object of a library's keeps inside, by the name that the program has for the object."""
    first = outer.path.split(" (")[0] if outer.is_within else outer.path  # what lies in between is nobody's affair
    inner = Inner(name, module_of(kind), tuple(map(class_named, bases_of(kind))))
    return outer._replace(path="%s (%s.%s)" % (first, class_named(kind), name), bound=None, inner=inner)


def is_function_cache(kind: type) -> bool:
    """Whether things of a class are functions that `functools.lru_cache` has wrapped."""
    return class_named(kind) == "_lru_cache_wrapper"


def _in_lru(wrapper: Any) -> Holder:
    function = wrapper.__wrapped__
    code = getattr(function, "__code__", None)
    line = (code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None
    name = str(attributes_of(wrapper).get("__name__", "a cached function"))
    module = attributes_of(wrapper).get("__module__", "")
    return Holder((name,), "the lru_cache of %s()" % name, str(module), wrapper.cache_info().maxsize, line)


def _in_defaults(function: Any, wanted: int) -> Optional[Holder]:
    """`def predict(x, history=[])`: a default is made once, and every call has it."""
    defaults = function.__defaults__
    at = index_of(defaults, tuple, wanted) if defaults is not None else None
    if at is None:
        return None
    code = function.__code__
    name = code.co_varnames[code.co_argcount - len(defaults) + at]
    return Holder((name,), "the default of %s in %s()" % (name, code.co_name), function.__module__ or "", None, None)
