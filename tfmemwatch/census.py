"""What is alive beyond what is counted: eager tensors, and Python containers that grow. Only on request."""

from __future__ import annotations

import functools
import gc
import sys
from collections import deque
from contextlib import contextmanager
from itertools import chain, compress, starmap, tee
from operator import not_
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .site import PROJECT, classify, file_of, is_project

_LEAST_LENGTH = 3
_MOST_REFERRERS = 200
_KINDS: Tuple[type, ...] = (list, dict, set, deque)


class Census(NamedTuple):
    """One look at everything the collector knows: 10–50 ms."""

    lengths: Dict[int, int]  # of containers, by id
    tensors: int


class Holder(NamedTuple):
    """By what name the program knows a container."""

    names: Tuple[str, ...]  # what one would look for in the source, the likeliest first
    path: str  # as one would say it
    module: str  # where its owner is defined, if known
    bound: Optional[int]  # how long it can grow, where it says so
    line: Optional[Tuple[str, int, str]]  # where its owner stands, for what is no name in the source
    owners: Tuple[str, ...] = ()  # the classes of the object whose attribute it is, its bases last


def everything(kinds: Set[type]) -> List[Any]:
    """Every living thing of these exact types that the collector knows.

    `gc.get_objects()` also hands out tuples that another thread is still building, and such a tuple can't be finished
    while somebody else holds it: the program gets a SystemError. So see `_sifted`.
    """
    return _sifted(gc.get_objects, (), lambda types: map(kinds.__contains__, types))


def referrers(thing: Any) -> List[Any]:
    """What refers to a thing; frames, and tuples that may be unfinished, are left out."""
    return _sifted(gc.get_referrers, (thing,), lambda types: map(not_, map(_UNSAFE.__contains__, types)))


_UNSAFE = frozenset((tuple, FrameType))


def _sifted(
    source: Callable[..., List[Any]], arguments: Tuple[Any, ...],
    wanted: Callable[[Iterator[type]], Iterator[Any]],
) -> List[Any]:  # fmt: skip
    """The things of wanted types out of a list that is made, read and emptied within one call into C.

    No step of Python lies in between, so no other thread can run, and nothing but what was wanted is held afterwards.
    `wanted` strings iterators together before the list is there; what they call must be written in C.
    """
    box: List[Any] = []
    with _no_collection():
        return list(
            chain(
                filter(None, map(box.extend, starmap(source, (arguments,)))),  # fills the box, yields nothing
                compress(box, wanted(map(type, box))),
                filter(None, starmap(box.clear, ((),))),
            )
        )


@contextmanager
def _no_collection() -> Iterator[None]:
    """A collection that our own allocations bring about would run finalizers, and with them other threads."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def plain_dicts() -> List[Any]:
    """The dicts that the collector does not know, since all that they hold is numbers, strings and arrays.

    They are looked for where a program keeps such things: in other dicts (those of modules among them), and in
    instances of the user's own classes.
    """
    owners = everything({dict})
    mine = {kind for kind in types_alive() if _is_projects(kind)}
    values = chain(
        chain.from_iterable(map(dict.values, owners)),
        chain.from_iterable(map(gc.get_referents, everything(mine))),
    )
    with _no_collection():
        things, types = tee(values)
        dicts = list(compress(things, map({dict}.__contains__, map(type, types))))
    unknown = compress(dicts, map(not_, map(gc.is_tracked, dicts)))
    return list({id(one): one for one in unknown}.values())


def _is_projects(kind: type) -> bool:
    file = file_of(sys.modules.get(str(kind.__module__)))
    return file != "" and is_project(file)


def types_alive() -> Set[type]:
    """The types of everything that lives."""
    with _no_collection():
        return set(map(type, chain.from_iterable(starmap(gc.get_objects, ((),)))))


def containers() -> Set[type]:
    """The types of collections whose length can be asked without running anybody's code."""
    found: Set[type] = set(_KINDS)
    below: List[type] = list(_KINDS)
    while below:
        children: List[Any] = type.__subclasses__(below.pop())
        for child in children:
            if child not in found and child.__len__ in _LENGTHS:
                found.add(child)
                below.append(child)
    return found


_LENGTHS = tuple(kind.__len__ for kind in _KINDS)  # type: ignore[attr-defined]


def take(tensor: Optional[type] = None) -> Census:
    """Count the tensors and measure the containers that there are."""
    lengths: Dict[int, int] = {}
    tensors = 0
    kinds = containers()
    for thing in everything(kinds | {tensor} if tensor is not None else kinds):
        if type(thing) is tensor:
            tensors += 1
            continue
        _measure(thing, lengths)
    for thing in plain_dicts():
        _measure(thing, lengths)
    return Census(lengths, tensors)


def _measure(thing: Any, lengths: Dict[int, int]) -> None:
    length = len(thing)
    if length >= _LEAST_LENGTH:
        lengths[id(thing)] = length


def grown(before: Census, after: Census, least: int, most: int = 12) -> List[Any]:
    """The containers that have grown most between two looks; the caller lets go of them soon."""
    rows = []
    old = before.lengths
    for key, length in after.lengths.items():
        start = old.get(key)
        if start is not None and length - start >= least:
            rows.append((length - start, key))
    wanted = {key: more for more, key in sorted(rows, reverse=True)[: 4 * most]}
    if not wanted:
        return []
    found = [thing for thing in chain(everything(containers()), plain_dicts()) if id(thing) in wanted]
    found.sort(key=lambda thing: -wanted[id(thing)])
    return [thing for thing in found if not is_ours(thing)][:most]


def is_ours(container: Any) -> bool:
    """Whether it is the watch itself, or the interpreter, that grows."""
    for referrer in referrers(container):
        kind = type(referrer)
        module = getattr(kind, "__module__", "") or ""
        if module.startswith("tfmemwatch"):
            return True
        if kind is dict and any(_is_own(owner) for owner in referrers(referrer)[:20]):
            return True
    return False


def _is_own(owner: Any) -> bool:
    return (getattr(type(owner), "__module__", "") or "").startswith("tfmemwatch")


def items(container: Any, most: int = 8) -> List[Any]:
    """A few of the newest things in a container."""
    try:
        values = container.values() if isinstance(container, dict) else container
        if isinstance(values, (list, deque)):
            return [values[-1 - index] for index in range(min(most, len(values)))]
        return list(values)[-most:]
    except Exception:
        return []  # it changed under our eyes


def holds_tensors(container: Any) -> bool:
    """Whether its newest items are eager tensors, or things with some in them."""
    found = items(container)
    return bool(found) and sum(map(_has_tensor, found)) * 2 > len(found)


def _has_tensor(value: Any, depth: int = 0) -> bool:
    if type(value).__name__ in ("EagerTensor", "IndexedSlices", "RaggedTensor"):
        return True
    return depth < 3 and any(_has_tensor(part, depth + 1) for part in _parts(value)[:16])


def _parts(value: Any) -> List[Any]:
    """What a thing is made of, as far as that is its own: items, attributes, the object of a method, a closure."""
    if isinstance(value, (tuple, list)):
        return list(value[:32])
    if isinstance(value, dict):
        return list(value.values())[:32]
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, FunctionType):
        return [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
    if isinstance(value, functools.partial):
        return [*value.args, *value.keywords.values()]
    attributes = getattr(value, "__dict__", None)
    is_shared = isinstance(value, (type, ModuleType)) or hasattr(value, "_num_elements")
    return list(attributes.values())[:32] if isinstance(attributes, dict) and not is_shared else []


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def is_kept(tensor: type, least: float) -> bool:
    """Whether the largest tensor is at least so large, and held by more than the line that runs."""
    tensors = everything({tensor})
    if not tensors:
        return False
    largest = max(tensors, key=_size)
    return _size(largest) >= least and any(one is not tensors for one in referrers(largest))


def size_of_item(container: Any) -> float:
    """About how many bytes one more item costs."""
    found = items(container)
    if not found:
        return 0.0
    return sum(_size(value) for value in found) / len(found)


def _size(value: Any, depth: int = 0) -> float:
    count = getattr(value, "_num_elements", None)
    try:
        if count is not None:
            return float(count() * max(1, value.dtype.size))
        nbytes = getattr(value, "nbytes", None)
        if isinstance(nbytes, int):
            return float(nbytes)
        total = float(sys.getsizeof(value, 64))
        if depth < 3:
            total += sum(_size(part, depth + 1) for part in _parts(value))
        return total
    except Exception:
        return 64.0


def holder_of(container: Any, depth: int = 0) -> Optional[Holder]:
    """By what name the program holds a container; None where no name leads to it."""
    bound = container.maxlen if isinstance(container, deque) else None
    for referrer in referrers(container)[:_MOST_REFERRERS]:
        found = _named_by(referrer, container, bound, depth)
        if found is not None:
            return found
    return _in_frames(container)


def _in_frames(container: Any) -> Optional[Holder]:
    frames = list(sys._current_frames().values())
    for frame in frames:
        at: Optional[FrameType] = frame
        while at is not None:
            if classify(at.f_code.co_filename) == PROJECT:
                for name, value in list(at.f_locals.items()):
                    if value is container and at.f_code.co_name != "<module>":
                        return Holder((name,), name, at.f_globals.get("__name__", ""), None, None)
            at = at.f_back
    return None


def _named_by(referrer: Any, container: Any, bound: Optional[int], depth: int) -> Optional[Holder]:
    kind = type(referrer)
    if kind is dict:
        return _in_dict(referrer, container, bound, depth)
    if hasattr(referrer, "cache_info") and hasattr(referrer, "__wrapped__"):
        return _in_lru(referrer)
    if isinstance(referrer, (FrameType, ModuleType)) or kind.__module__ == __name__:
        return None
    if kind.__name__ == "cell":
        return _in_closure(referrer, bound)
    attributes = getattr(referrer, "__dict__", None)
    if isinstance(attributes, dict) and kind not in (list, tuple, type):
        for name, value in list(attributes.items()):
            if value is container:
                return _attribute(kind, name, bound)
    return None


def _attribute(kind: type, name: str, bound: Optional[int]) -> Holder:
    owners = tuple(base.__name__ for base in kind.__mro__)
    return Holder((name,), "%s.%s" % (kind.__name__, name), kind.__module__, bound, None, owners)


def _in_lru(wrapper: Any) -> Holder:
    code = getattr(wrapper.__wrapped__, "__code__", None)
    line = (code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None
    name = getattr(wrapper, "__name__", "a cached function")
    most = wrapper.cache_info().maxsize
    return Holder((name,), "the lru_cache of %s()" % name, wrapper.__module__, most, line)


def _in_closure(cell: Any, bound: Optional[int]) -> Optional[Holder]:
    """A closure's variable; its tuple of cells is not handed out, so the functions are asked."""
    for function in everything({FunctionType}):
        closure = function.__closure__
        if closure is None or not any(other is cell for other in closure):
            continue
        name = function.__code__.co_freevars[[other is cell for other in closure].index(True)]
        return Holder((name,), name, function.__module__ or "", bound, None)
    return None


def _in_dict(owner: Dict[Any, Any], container: Any, bound: Optional[int], depth: int) -> Optional[Holder]:
    key = next((key for key, value in list(owner.items()) if value is container), None)
    if key is None:
        return None
    if "__builtins__" in owner or "__loader__" in owner:
        module = str(owner.get("__name__", ""))
        return Holder((str(key),), "%s.%s" % (module, key), module, bound, None)
    for referrer in referrers(owner)[:_MOST_REFERRERS]:
        if getattr(referrer, "__dict__", None) is owner:
            kind = type(referrer)
            return _attribute(kind, str(key), bound)
    if depth == 0:
        outer = holder_of(owner, 1)
        if outer is not None:
            names = (key, *outer.names) if isinstance(key, str) else outer.names
            return outer._replace(names=names, path="%s[%r]" % (outer.path, _short(key)), bound=bound)
    return Holder((str(key),), str(_short(key)), "", bound, None) if isinstance(key, str) else None


def _short(key: Any) -> Any:
    return key[:40] if isinstance(key, str) else type(key).__name__
