"""What is alive beyond what is counted: eager tensors, and Python containers that grow. Only on request."""

from __future__ import annotations

import gc
import sys
from collections import deque
from contextlib import contextmanager
from itertools import chain, compress, islice, starmap, tee
from operator import not_
from types import FrameType, FunctionType, ModuleType
from typing import Any, Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple
from weakref import ReferenceType as WeakReference

from . import frames, guard
from .site import attribute_of, attributes_of, is_a_name, is_project, is_users

_LEAST_LENGTH = 3
_MOST_REFERRERS = 200
_KINDS: Tuple[type, ...] = (list, dict, set, deque)


class Census(NamedTuple):
    """One look at everything the collector knows: 10–50 ms."""

    lengths: Dict[int, int]  # of containers, by id
    tensors: int


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

    @property
    def is_within(self) -> bool:
        """Whether the name is that of something that holds the container."""
        return self.inner is not None


def everything(kinds: Set[type]) -> List[Any]:
    """Every living thing of these exact types that the collector knows.

    `gc.get_objects()` also hands out tuples that another thread is still building, and such a tuple can't be finished
    while somebody else holds it: the program gets a SystemError. So see `_sifted`.
    """
    return _sifted(gc.get_objects, (), lambda types: map(kinds.__contains__, types))


def finished() -> List[Any]:
    """All that the collector knows, but frames, and tuples that may be unfinished; let go of it soon."""
    return _sifted(gc.get_objects, (), lambda types: map(not_, map(_UNSAFE.__contains__, types)))


def count() -> int:
    """How many objects the collector knows."""
    with _no_collection():
        return sum(map(len, starmap(gc.get_objects, ((),))))


def referrers(thing: Any) -> List[Any]:
    """What refers to a thing; frames, and tuples that may be unfinished, are left out."""
    return _sifted(gc.get_referrers, (thing,), _is_safe)


def _is_safe(types: Iterator[type]) -> Iterator[Any]:
    return map(not_, map(_UNSAFE.__contains__, types))


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
    mine = {kind for kind in types_alive() if is_users(kind.__module__)}
    values = chain(
        chain.from_iterable(map(dict.values, owners)),
        chain.from_iterable(map(gc.get_referents, everything(mine))),
    )
    with _no_collection():
        things, types = tee(values)
        dicts = list(compress(things, map({dict}.__contains__, map(type, types))))
    unknown = compress(dicts, map(not_, map(gc.is_tracked, dicts)))
    return list({id(one): one for one in unknown}.values())


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
    guard.disturbed()
    lengths: Dict[int, int] = {}
    count = 0
    kinds = containers()
    for thing in everything(kinds | {tensor} if tensor is not None else kinds):
        if type(thing) is tensor:
            count += 1
            continue
        _measure(thing, lengths)
    for thing in plain_dicts():
        _measure(thing, lengths)
    guard.disturbed()
    return Census(lengths, count)


def tensors(kind: Optional[type]) -> List[Any]:
    """The eager tensors that there are; the caller lets go of them soon."""
    return everything({kind}) if kind is not None else []


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
    return not_ours(found)[:most]


def not_ours(things: List[Any]) -> List[Any]:
    """Those that are not the watch's own. All are asked about at once: each look at the heap stops the program."""
    holders = _sifted(gc.get_referrers, tuple(things), _is_safe)
    dicts = [holder for holder in holders if type(holder) is dict]
    owners = _sifted(gc.get_referrers, tuple(dicts), _is_safe) if dicts else []
    own = [holder for holder in holders if _is_own(holder)]
    known = {id(one) for one in dicts}
    ours = {id(part) for owner in owners if _is_own(owner) for part in gc.get_referents(owner) if id(part) in known}
    own += [one for one in dicts if id(one) in ours]
    held = {id(part) for holder in own for part in gc.get_referents(holder)}
    return [thing for thing in things if id(thing) not in held]


def _is_own(owner: Any) -> bool:
    return (getattr(type(owner), "__module__", "") or "").startswith("tfmemwatch")


class Weight(NamedTuple):
    """What one more item of a collection keeps alive, beyond what the item before it keeps alive too."""

    bytes: float
    tensors: float


_MOST_REACHED = 3000
_MOST_AMONG = 4096
_NOTHING = Weight(0.0, 0.0)
_PASSED_OVER = (type, ModuleType, WeakReference)


def items(container: Any, among: int = 4, most: int = 4) -> List[Any]:
    """A few of the newest things in a container, spread over so many of them: a heap has no order of time."""
    apart = max(1, min(among, _MOST_AMONG) // most)
    try:
        if isinstance(container, dict):
            return [(key, container[key]) for key in _newest_keys(container, most * apart)[::apart]]
        if isinstance(container, (list, deque)):
            return [container[at] for at in range(-1, -1 - min(len(container), most * apart), -apart)]
        return list(container)[-most:]
    except Exception:
        return []  # it changed under our eyes


def _newest_keys(container: Dict[Any, Any], most: int) -> List[Any]:
    try:
        return list(islice(reversed(container), most))
    except TypeError:  # before Python 3.8
        return list(container)[: -most - 1 : -1]


def weight_of_item(container: Any, among: int = 4) -> Weight:
    """About what one more item costs: the bytes and tensors that hang on some of the newest items.

    A thing is an item's own if it is nearer to it than to the next item, which all things that they share are not.
    """
    found = items(container, among)
    if not found:
        return _NOTHING
    reached = [reach(item, container) for item in found]
    total = some = 0.0
    for index, mine in enumerate(reached):
        for thing in _own(mine, reached[index - 1] if len(reached) > 1 else {}):
            total += size_of_thing(thing)
            some += is_tensor(thing)
    return Weight(total / len(found), some / len(found))


def _own(mine: Dict[int, Tuple[int, Any]], other: Dict[int, Tuple[int, Any]]) -> List[Any]:
    return [thing for key, (steps, thing) in mine.items() if key not in other or steps < other[key][0]]


def reach(thing: Any, holder: Any = None) -> Dict[int, Tuple[int, Any]]:
    """What a thing keeps alive, by id, and in how many steps: through attributes, items, closures and frames.

    Not through modules, nor through the collection that holds it: an exception leads to its frames, and those back.
    """
    found = {id(thing): (0, thing)}
    waiting = deque([thing])
    while waiting and len(found) < _MOST_REACHED:
        at = waiting.popleft()
        if is_tensor(at) or issubclass(type(at), _PASSED_OVER):
            continue
        steps = found[id(at)][0] + 1
        parts = _kept_by(at) if type(at) is FrameType else gc.get_referents(at)
        for part in parts:
            if id(part) in found or part is holder or issubclass(type(part), _PASSED_OVER):
                continue
            if type(part) is dict and "__builtins__" in part:
                continue
            found[id(part)] = (steps, part)
            waiting.append(part)
    return found


def _kept_by(frame: FrameType) -> List[Any]:
    """The variables of a function that has ended; its frame leads to those that called it, too, which run."""
    others = (frame.f_back, frame.f_globals, frame.f_builtins)
    return [one for one in gc.get_referents(frame) if not any(one is other for other in others)]


def is_tensor(thing: Any) -> bool:
    """Whether it is an eager tensor."""
    return type(thing).__name__ == "EagerTensor"


def largest_kept(tensor: type, least: float) -> List[Any]:
    """The largest tensor, where it is at least so large, and held by more than the line that runs; else nothing."""
    tensors = everything({tensor})
    if not tensors:
        return []
    largest = max(tensors, key=size_of_thing)
    is_kept = size_of_thing(largest) >= least and any(one is not tensors for one in referrers(largest))
    return [largest] if is_kept else []


def size_of_thing(thing: Any) -> float:
    kind = type(thing)  # asked instead of the thing, whose attributes may be code of the program's
    try:
        if hasattr(kind, "_num_elements"):
            return float(thing._num_elements() * max(1, thing.dtype.size))
        if hasattr(kind, "nbytes") and not is_users(kind.__module__, True):
            return float(thing.nbytes)
        if hasattr(kind, "SerializeToString"):  # a protocol buffer: what it holds is not Python's
            return float(max(64, 2 * thing.ByteSize()))
        return float(sys.getsizeof(thing, 64))
    except Exception:
        return 64.0


class Above:
    """What refers to what, as far as it was asked. Each look at the heap stops the program, so there are few.

    Answers are kept in tuples: no question hands those out, so our own do not look like the program's collections.
    """

    def __init__(self, things: Sequence[Any] = (), most: int = 10) -> None:
        self._known: Dict[int, Tuple[Any, ...]] = {}
        self._left = most
        self.beginning = 0  # the id of what is asked about
        if things:
            self._ask(tuple(things))
            self._ask(tuple(one for found in list(self._known.values()) for one in found if type(one) is dict))

    def _ask(self, things: Tuple[Any, ...]) -> None:
        """All at once, in one look."""
        wanted: Dict[int, List[Any]] = {id(thing): [] for thing in things if id(thing) not in self._known}
        for holder in _sifted(gc.get_referrers, things, _is_safe) if wanted else ():
            for part in gc.get_referents(holder):
                if id(part) in wanted and len(wanted[id(part)]) < _MOST_REFERRERS:
                    wanted[id(part)].append(holder)
        self._known.update((key, tuple(found)) for key, found in wanted.items())

    def of(self, thing: Any) -> Tuple[Any, ...]:
        """What refers to a thing; nothing any more when too much was asked."""
        found = self._known.get(id(thing))
        if found is None:
            self._left -= 1
            if self._left < 0:
                return ()
            found = self._known[id(thing)] = tuple(referrers(thing)[:_MOST_REFERRERS])
        return found


def collection_of(thing: Any, above: Above, ours: Any, depth: int = 0) -> Any:
    """The list, dict, set or deque that holds a thing, directly or through what it is part of; None where none does.

    `ours` is a list of the caller's own, in which the thing stands as well.
    """
    objects: Deque[Any] = deque(maxlen=4)
    for referrer in above.of(thing):
        if referrer is ours or _is_own(referrer):
            continue
        is_collection = issubclass(type(referrer), _KINDS) and type(referrer).__len__ in _LENGTHS
        if is_collection and not _is_namespace(referrer, above) and len(referrer) >= _LEAST_LENGTH:
            return referrer
        if is_collection or not issubclass(type(referrer), _PASSED_OVER):
            objects.append(referrer)
    for owner in tuple(objects) if depth < 3 else ():
        found = collection_of(owner, above, objects, depth + 1)
        if found is not None:
            return found
    return None


def _is_namespace(owner: Any, above: Above) -> bool:
    """Whether a dict is the attributes of something, not a collection."""
    if type(owner) is not dict:
        return False
    return "__builtins__" in owner or any(_is_dict_of(one, owner) for one in above.of(owner))


def _is_dict_of(thing: Any, attributes: Dict[Any, Any]) -> bool:
    if issubclass(type(thing), type):
        return bool(attributes) and thing.__dict__.get(next(iter(attributes)), thing) is next(iter(attributes.values()))
    return attributes_of(thing) is attributes


_MOST_STEPS = 4  # up from a collection to a name


def holder_of(container: Any, above: Optional[Above] = None, depth: int = 0) -> Optional[Holder]:
    """By what name the program holds a container; None where no name leads to it.

    A name of the program's own is better than one inside a library: `Pipe.q` says more than `Queue.queue`.
    """
    above = above or Above()
    if not depth:
        above.beginning = id(container)
    bound = container.maxlen if issubclass(type(container), deque) else None
    in_library = None
    for referrer in above.of(container):
        if id(referrer) == above.beginning:  # `logger` of `loggerDict` leads back to it, and names nothing
            continue
        found = _named_by(referrer, container, bound, above, depth)
        if found is not None and (depth or found.line is not None or is_users(found.module, True)):
            return found
        in_library = in_library or found
    if depth:
        return in_library or _in_frames(container) or _in_collection(container, above, depth)
    return _in_frames(container) or _in_collection(container, above, depth) or in_library or in_defaults(container)


def _in_collection(container: Any, above: Above, depth: int) -> Optional[Holder]:
    """A list in a list has the name of the outer one."""
    for referrer in above.of(container) if depth < _MOST_STEPS else ():
        if type(referrer) in (list, deque):
            outer = holder_of(referrer, above, depth + 1)
            if outer is not None:
                return outer._replace(path=outer.path + "[…]", bound=None, is_nested=True)
    return None


def _in_frames(container: Any) -> Optional[Holder]:
    for one in frames.running():
        for name, value in one.variables:
            if value is container:
                return Holder((name,), name, one.module, None, None)
    return _in_suspended(container)


def _in_suspended(container: Any) -> Optional[Holder]:
    """A variable of a generator or a coroutine of the user's that waits for its next step."""
    for one in everything(set(frames.SUSPENDED)):
        frame = frames.frame_of(one)
        if frame is None or not is_project(frame.f_code.co_filename):
            continue
        for name, value in frames.variables(frame):
            if value is container:
                path = "%s of %s()" % (name, frame.f_code.co_name)
                return Holder((name,), path, str(frame.f_globals.get("__name__", "")), None, None)
    return None


def _named_by(
    referrer: Any, container: Any, bound: Optional[int], above: Above, depth: int,
) -> Optional[Holder]:  # fmt: skip
    kind = type(referrer)
    if issubclass(kind, dict):  # a defaultdict, too
        found = _in_dict(referrer, container, bound, above, depth)
        if found is not None or kind is dict:
            return found
    if hasattr(kind, "cache_info") or "cache_info" in attributes_of(referrer):  # TensorFlow has objects that notice
        return _in_lru(referrer)  # when they are asked for an attribute
    if issubclass(kind, (FrameType, ModuleType)) or _is_own(referrer):
        return None
    if kind.__name__ == "cell":
        return _in_closure(referrer, bound)
    if kind not in (list, tuple, type):
        name = attribute_of(referrer, container)
        if name is not None:
            return _attribute(referrer, name, bound, above, depth)
        is_wrapper = kind.__module__.endswith("tf_should_use")  # of TensorFlow's: it hides what it holds
        if is_wrapper and not attributes_of(referrer):
            return _attribute(referrer, "…", bound, above, depth)
    return None


def _attribute(owner: Any, name: str, bound: Optional[int], above: Above, depth: int) -> Holder:
    kind = type(owner)
    owners = tuple(base.__name__ for base in kind.__mro__)
    holder = Holder((name,), "%s.%s" % (kind.__name__, name), kind.__module__, bound, None, owners)
    if is_users(kind.__module__, True) or depth >= _MOST_STEPS:
        return holder
    outer = holder_of(owner, above, depth + 1)
    if outer is None or not is_users(outer.module, True):
        return holder
    first = outer.path.split(" (")[0] if outer.is_within else outer.path  # what lies in between is nobody's affair
    inner = Inner(name, kind.__module__, owners)
    return outer._replace(path="%s (%s.%s)" % (first, kind.__name__, name), bound=bound, inner=inner)


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


def in_defaults(container: Any) -> Optional[Holder]:
    """`def predict(x, history=[])`: a default is made once, and every call has it."""
    for function in everything({FunctionType}):
        defaults = function.__defaults__
        if defaults is None or not any(value is container for value in defaults):
            continue
        code = function.__code__
        first = code.co_argcount - len(defaults)
        name = code.co_varnames[first + [value is container for value in defaults].index(True)]
        return Holder(
            (name,), "the default of %s in %s()" % (name, code.co_name), function.__module__ or "", None, None
        )
    return None


def _in_dict(
    owner: Dict[Any, Any], container: Any, bound: Optional[int], above: Above, depth: int,
) -> Optional[Holder]:  # fmt: skip
    key = next((key for key, value in list(dict.items(owner)) if value is container), None)
    if key is None:
        return None
    if dict.__contains__(owner, "__builtins__") or dict.__contains__(owner, "__loader__"):
        module = str(dict.get(owner, "__name__", ""))
        return Holder((str(key),), "%s.%s" % (module, key), module, bound, None)
    for referrer in above.of(owner):
        if _is_dict_of(referrer, owner):
            if _is_own(referrer):
                return None
            if issubclass(type(referrer), type):
                path = "%s.%s" % (referrer.__name__, key)
                return Holder((str(key),), path, referrer.__module__, bound, None, (referrer.__name__,))
            return _attribute(referrer, str(key), bound, above, depth)
    if depth < 2:
        outer = holder_of(owner, above, depth + 1)
        if outer is not None:
            names = (key, *outer.names) if type(key) is str else outer.names
            return outer._replace(names=names, path=outer.path + _short(key), bound=bound, is_nested=True)
    if type(key) is not str:
        return None
    return Holder((key,), key if is_a_name(key) else "a dict", "", bound, None)


def _short(key: Any) -> str:
    """`['loss']`, if the key looks like a name in a program; else what it is without what it says."""
    if type(key) is str:
        return "['%s']" % key if is_a_name(key) else "[…]"
    return "[%s]" % type(key).__name__
