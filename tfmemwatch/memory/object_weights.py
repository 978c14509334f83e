"""What the living objects weigh, by owner: arrays, tensors, variables, constants, large objects. Only on request."""

from __future__ import annotations

import collections
import gc
import operator
import sys
import time
from abc import ABCMeta
from array import array
from functools import partial
from itertools import chain, compress, islice, repeat
from types import CodeType
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..heap.classes import NO_IDS, ids_of, with_children
from ..heap.frames import running
from ..heap.instances import references_to
from ..heap.one_call import OneCall, everything_in, of_types
from ..heap.room import heap_size
from ..seams import graphs
from ..seams.places import find, has
from ..seams.tensors import tensor_memory
from ..seams.variables import owns_memory
from ..units import count_of

SMALL_BYTES = 512  # up to which an object of Python lives in its own arenas; what is larger comes from malloc
_LEAST_SHARED_BYTES = 4096  # tensors from which on it is asked whether an array or another tensor has the same memory
_MOST_OBJECTS = 800000  # with more, one part would take longer than a person may be kept waiting for
_MOST_SECONDS = 0.5  # for the constants of graphs
_MOST_TENSORS = 200000


class ObjectWeights(NamedTuple):
    """Bytes that malloc gave to things one can name."""

    python_bytes: int = 0  # objects of Python too large for its arenas: long lists, dicts, strings, code
    arrays_bytes: int = 0  # NumPy
    tensors_bytes: int = 0  # eager tensors, not those inside a running graph
    variables_bytes: int = 0
    constants_bytes: int = 0  # in graphs and functions
    arrays: int = 0
    tensors: int = 0
    variables: int = 0
    off: str = ""  # why nothing was weighed, or not everything

    @property
    def bytes(self) -> int:
        """All of them."""
        return self.python_bytes + self.arrays_bytes + self.tensors_bytes + self.variables_bytes + self.constants_bytes


def read() -> ObjectWeights:
    """Weigh everything: some tenths of a second with 300,000 objects, in parts between which other threads run."""
    off = heap_size.too_large(_MOST_OBJECTS, asked=True)
    if off:
        return ObjectWeights(off=off)
    array_kind = getattr(sys.modules.get("numpy"), "ndarray", None)
    weighing = _Weighing(array_kind)
    weighing.read_variables()
    weighing.read_all()
    arrays = {thing: size for thing, size in weighing.arrays.items() if thing not in weighing.large}
    tensors, tensors_bytes = _tensors(weighing.addresses)
    variables, variables_bytes = _variables()
    return ObjectWeights(
        sum(weighing.large.values()), sum(arrays.values()), tensors_bytes, variables_bytes, _constants(), len(arrays),
        tensors, variables, weighing.not_read(),
    )  # fmt: skip


_PART = 15000  # things that are asked in one call: each call has to list all objects first
_SLICE = 40000  # parts of one thing that are asked in one call
_MOST_SLICED = 500000  # parts; of more than these the first ones are weighed
_MOST_LEVELS = 3  # of tuples in tuples
_TABLES = ids_of((
    list, dict, set, frozenset, type, ABCMeta,
    collections.deque, collections.OrderedDict, collections.defaultdict,
))  # fmt: skip
_TEXTS = ids_of((bytes, bytearray, str, CodeType))
_HOLDERS = ids_of((tuple, dict))


class _Weighing:
    """The bytes of Python's large objects and of arrays, by id.

    The collector knows neither texts nor arrays, so they are looked for in what it knows, and in tuples and dicts in
    there.
    """

    def __init__(self, array_kind: Any) -> None:
        self.large: Dict[int, int] = {}
        self.arrays: Dict[int, int] = {}
        self.addresses: Set[int] = set()  # of the data of larger arrays
        self._long: Dict[int, int] = {}  # collections of more than one slice, and how many parts they have
        self._array_kind = array_kind
        self._array_kinds = ids_of(with_children((array_kind,)) if array_kind is not None else ())

    def read_variables(self) -> None:
        """What the local variables of running functions hold."""
        variables = [dict(one.variables) for one in running()]
        call = OneCall()
        self._read(call, call.box(variables), variables)

    def read_all(self) -> None:
        """All that the collector knows, part by part; then what long collections hold beyond their first slice."""
        first = 0
        while first <= 2 * _MOST_OBJECTS and self._read_part(first, first + _PART):
            first += _PART
        for thing, parts in self._long.items():
            for start in range(_SLICE, parts if parts <= _MOST_SLICED else 0, _SLICE):
                self._read_slice(thing, start)

    def not_read(self) -> str:
        """What was left out, for a person."""
        lengths = [parts for parts in self._long.values() if parts > _MOST_SLICED]
        if not lengths:
            return ""
        first, longest = count_of(_SLICE), count_of(max(lengths))
        if len(lengths) == 1:
            return "of a collection of %s parts only the first %s" % (longest, first)
        return "of each of %d collections only the first %s parts; the longest has %s" % (len(lengths), first, longest)

    def _read_part(self, first: int, last: int) -> bool:
        """Some of all things; whether there were any."""
        call = OneCall()
        part = call.box(islice(everything_in(call)(), first, last))
        number = call.numbers(map(len, (part,)))
        self._read(call, part, ())
        return number[0] > 0

    def _read_slice(self, thing: int, start: int) -> None:
        """What one of them holds, from some place on."""
        call = OneCall()
        everything = everything_in(call)
        part = call.box(islice(compress(everything(), map(thing.__eq__, map(id, everything()))), 1))
        self._read(call, part, (), start)

    def _read(self, call: OneCall, part: List[Any], passing: Iterable[Dict[str, Any]], start: int = 0) -> None:
        below = call.box()
        level, kinds = part, _TEXTS | _HOLDERS | self._array_kinds
        long_ids = long_lengths = array("Q")
        for depth in range(_MOST_LEVELS):
            first, last = (start, start + _SLICE) if depth == 0 else (0, sys.maxsize)
            parts = call.lists(map(gc.get_referents, level))
            if depth == 0:
                is_long = map(_SLICE.__lt__, map(len, parts))
                long_ids = call.numbers(map(id, compress(level, is_long)))
                long_lengths = call.numbers(filter(_SLICE.__lt__, map(len, parts)))
            found = call.box(of_types(partial(_slices, parts, first, last), kinds))
            call.do(map(below.extend, (found,)))
            holders = call.box(of_types(found.__iter__, _HOLDERS))
            level = call.box(compress(holders, map(operator.not_, map(gc.is_tracked, holders))))
        tables = of_types(part.__iter__, _TABLES if start == 0 else NO_IDS)
        named = chain(tables, of_types(below.__iter__, _TEXTS), of_types(below.__iter__, _HOLDERS))
        known = call.box(named)
        large = call.box(compress(known, map(SMALL_BYTES.__lt__, map(sys.getsizeof, known))))
        ids, sizes = call.numbers(map(id, large)), call.numbers(map(sys.getsizeof, large))
        arrays = call.box(of_types(below.__iter__, self._array_kinds))
        ids_of_arrays, sizes_of_arrays, addresses = call.numbers(map(id, arrays)), array("Q"), array("Q")
        if self._array_kind is not None:  # its own way of telling them: what is derived from it may have another
            kind = self._array_kind
            sizes_of_arrays = call.numbers(map(kind.__sizeof__, arrays))
            shared = compress(arrays, map(_LEAST_SHARED_BYTES.__le__, map(kind.nbytes.__get__, arrays)))
            places = map(operator.itemgetter("data"), map(kind.__array_interface__.__get__, shared))
            addresses = call.numbers(map(operator.itemgetter(0), places))
        call.do(map(dict.clear, passing))
        call.run()
        if start == 0:
            self._long.update(zip(long_ids, long_lengths))
        self.large.update(zip(ids, sizes))
        self.arrays.update(zip(ids_of_arrays, sizes_of_arrays))
        self.addresses.update(addresses)


def _slices(lists: List[List[Any]], first: int, last: int) -> Iterator[Any]:
    """The parts that stand there in each of these lists."""
    return chain.from_iterable(map(islice, lists, repeat(first), repeat(last)))


def _tensors(known: Set[int]) -> Tuple[int, int]:
    """How many eager tensors hold memory of the host, and how much that no other of them, and no array, shares."""
    if not has("eager_tensor"):
        return 0, 0
    number = total = 0
    for ref in references_to(ids_of((find("eager_tensor").value,)), _MOST_TENSORS):
        size, address = _memory(ref())
        number += 1
        if address is None or address not in known:
            total += size
        if address is not None:
            known.add(address)
    return number, total


def _memory(tensor: Any) -> Tuple[int, Optional[int]]:
    return (0, None) if tensor is None else tensor_memory(tensor, _LEAST_SHARED_BYTES)


def _variables() -> Tuple[int, int]:
    """Eager variables; those of a graph have memory in a session, and are counted where one is open."""
    if not has("variable"):
        return 0, 0
    number = total = 0
    for ref in references_to(ids_of(with_children((find("variable").holder,)))):
        size = _bytes_of_variable(ref())
        number += size is not None
        total += size or 0
    return number, total


def _bytes_of_variable(variable: Any) -> Optional[int]:
    if variable is None or not owns_memory(variable):
        return None
    return int(variable.shape.num_elements() or 0) * int(variable.dtype.size)


def _constants() -> int:
    """The constants in all graphs alive, as far as half a second goes."""
    if not (has("graph") and has("func_graph")):
        return 0
    ends = time.monotonic() + _MOST_SECONDS
    total = 0
    for ref in references_to(ids_of((find("graph").holder, find("func_graph").value))):
        total += _constants_in(ref())
        if time.monotonic() > ends:
            break
    return total


def _constants_in(graph: Any) -> int:
    with graphs.operations_of(graph) as operations:
        return sum(map(graphs.constant_bytes, operations))
