"""What the living objects weigh, by owner: arrays, tensors, variables, constants, large objects. Only on request."""

from __future__ import annotations

import collections
import gc
import operator
import sys
import time
from abc import ABCMeta
from itertools import chain, compress, repeat, tee
from types import CodeType
from typing import Any, Dict, Iterator, List, NamedTuple, Set, Tuple

from . import tfapi
from .census import everything, finished
from .frames import running

SMALL_BYTES = 512  # up to which an object of Python lives in its own arenas; what is larger comes from malloc
_LEAST_SHARED_BYTES = 4096  # tensors from which on it is asked whether an array or another tensor has the same memory
_MOST_SECONDS = 0.5  # for the constants of graphs
_MOST_TENSORS = 200000


class Holdings(NamedTuple):
    """Bytes that malloc gave to things one can name."""

    python_bytes: int = 0  # objects of Python too large for its arenas: long lists, dicts, strings, code
    arrays_bytes: int = 0  # NumPy
    tensors_bytes: int = 0  # eager tensors, not those inside a running graph
    variables_bytes: int = 0
    constants_bytes: int = 0  # in graphs and functions
    arrays: int = 0
    tensors: int = 0
    variables: int = 0

    @property
    def bytes(self) -> int:
        """All of them."""
        return self.python_bytes + self.arrays_bytes + self.tensors_bytes + self.variables_bytes + self.constants_bytes


def read() -> Holdings:
    """Weigh everything: some tenths of a second with 300,000 objects, in steps between which other threads run."""
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    python_bytes, arrays = _python(_with_children(array) if array is not None else set())
    known = {_address_of_array(one) for one in arrays.values() if one.nbytes >= _LEAST_SHARED_BYTES}
    arrays_bytes, number = sum(map(sys.getsizeof, arrays.values())), len(arrays)
    del arrays
    tensors, tensors_bytes = _tensors(known)
    variables, variables_bytes = _variables()
    return Holdings(
        python_bytes, arrays_bytes, tensors_bytes, variables_bytes, _constants(), number, tensors, variables
    )  # fmt: skip


def _python(arrays: Set[type]) -> Tuple[int, Dict[int, Any]]:
    """The bytes of Python's large objects; and the arrays, by id.

    The collector knows neither texts nor arrays, so they are looked for in what it knows, and in tuples and dicts in
    there. A tuple that something refers to is finished; those that may not be are never held (see `census`).
    """
    sizes: Dict[int, int] = {}
    found: Dict[int, Any] = {}
    variables = _locals()  # first: it empties copies of variables, where nobody has them in hand
    things = finished()
    things.append(variables)
    del variables
    wanted = _TEXTS | _PLAIN | {CodeType} | arrays
    while things:
        part = things[-_PART:]
        del things[-_PART:]
        level = below = list(_of_kinds(iter(gc.get_referents(*part)), wanted))
        for _ in range(_MOST_LEVELS):
            level = list(_of_kinds(iter(gc.get_referents(*_unknown(level))), wanted))
            below = below + level
        sizes.update(_large(chain(_of_kinds(iter(part), _TABLES), _of_kinds(iter(below), _PLAIN))))
        sizes.update(_large(chain(_long(_of_kinds(iter(below), _TEXTS)), _of_kinds(iter(below), {CodeType}))))
        found.update((id(one), one) for one in _of_kinds(iter(below), arrays))
        del part, level, below
    return sum(sizes.values()), found


def _locals() -> List[Any]:
    """What the local variables of running functions hold."""
    return [value for one in running() for _, value in one.variables]


_PART = 10000  # things that are asked at once: some milliseconds
_MOST_LEVELS = 3  # of tuples in tuples


def _unknown(things: List[Any]) -> List[Any]:
    """Tuples, and those dicts that the collector does not know: what they hold has not been looked at."""
    tuples = list(_of_kinds(iter(things), {tuple}))
    dicts = list(_of_kinds(iter(things), {dict}))
    return tuples + list(compress(dicts, map(operator.not_, map(gc.is_tracked, dicts))))


_TABLES: Set[type] = {
    list, dict, set, frozenset, type, ABCMeta,
    collections.deque, collections.OrderedDict, collections.defaultdict,
}  # fmt: skip
_TEXTS: Set[type] = {bytes, bytearray, str}
_PLAIN: Set[type] = {tuple, dict}


def _of_kinds(things: Iterator[Any], kinds: Set[type]) -> Iterator[Any]:
    values, again = tee(things)
    return compress(values, map(kinds.__contains__, map(type, again)))


def _long(texts: Iterator[Any]) -> Iterator[Any]:
    values, again = tee(texts)
    return compress(values, map(operator.lt, repeat(SMALL_BYTES // 4 - 20), map(len, again)))


def _large(things: Iterator[Any]) -> Iterator[Any]:
    """The pairs (id, size) of those too large for Python's arenas."""
    names, weighed = tee(things)
    sizes, again = tee(map(sys.getsizeof, weighed))
    return compress(zip(map(id, names), sizes), map(operator.lt, repeat(SMALL_BYTES), again))


def _with_children(kind: type) -> Set[type]:
    found: Set[type] = {kind}
    below: List[Any] = [kind]
    while below:
        children: List[Any] = [child for child in type.__subclasses__(below.pop()) if child not in found]
        found.update(children)
        below += children
    return found


def _address_of_array(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _tensors(known: Set[int]) -> Tuple[int, int]:
    """How many eager tensors hold memory of the host, and how much that no other of them, and no array, shares."""
    if not tfapi.has("eager_tensor"):
        return 0, 0
    tensors = everything({tfapi.find("eager_tensor").value})
    number, total = len(tensors), 0
    while tensors:
        size, address = tfapi.tensor_memory(tensors.pop(), _LEAST_SHARED_BYTES)
        if address is None or address not in known:
            total += size
        if address is not None:
            known.add(address)
    return number, total


def _variables() -> Tuple[int, int]:
    """Eager variables; those of a graph have memory in a session, and are counted where one is open."""
    if not tfapi.has("variable"):
        return 0, 0
    variables = [one for one in everything(_with_children(tfapi.find("variable").holder)) if tfapi.owns_memory(one)]
    return len(variables), sum(int(one.shape.num_elements() or 0) * int(one.dtype.size) for one in variables)


def _constants() -> int:
    """The constants in all graphs alive, as far as half a second goes."""
    if not (tfapi.has("graph") and tfapi.has("func_graph")):
        return 0
    ends = time.monotonic() + _MOST_SECONDS
    total = 0
    for graph in everything({tfapi.find("graph").holder, tfapi.find("func_graph").value}):
        try:
            total += sum(tfapi.constant_bytes(one) for one in graph.get_operations() if one.type == "Const")
        except Exception:
            continue  # TensorFlow has dismantled it, or is about to
        if time.monotonic() > ends:
            break
    return total
