"""Eager tensors: how many elements they have, and how many bytes."""

from __future__ import annotations

import functools
from array import array
from itertools import repeat
from typing import Any, List, Sequence, Tuple

from .classes import ids_of
from .one_call import OneCall, apply, everything_in, no_length, of_types


def elements(call: OneCall, things: List[Any], tensors: Sequence[type]) -> Tuple[array[int], array[int]]:
    """How many elements each of some tensors has, and the number of its data type; noughts where it can't be asked."""
    known = [kind for kind in tensors if hasattr(kind, "_datatype_enum")]

    def each(name: str) -> array[int]:
        asked = {id(kind): functools.partial(getattr(kind, name)) for kind in known}
        return call.numbers(map(apply, map(asked.get, map(id, map(type, things)), repeat(no_length)), things))

    return each("_num_elements"), each("_datatype_enum")


def bytes_of(elements: int, data_type: int) -> int:
    """The bytes of a tensor with so many elements."""
    return elements * _TYPE_BYTES.get(data_type, 4)


def tensors_by_size(kind: type) -> List[Tuple[int, int]]:
    """The bytes and the id of each eager tensor."""
    call = OneCall()
    those = call.box(of_types(everything_in(call), ids_of((kind,))))
    ids, (numbers, types) = call.numbers(map(id, those)), elements(call, those, (kind,))
    call.run()
    return [(bytes_of(number, of), one) for one, number, of in zip(ids, numbers, types)]


def with_values(kind: type) -> List[int]:
    """The ids of eager tensors, in the order in which the collector has them; not the handles of variables."""
    call = OneCall()
    those = call.box(of_types(everything_in(call), ids_of((kind,))))
    ids = call.numbers(map(id, those))
    types = array("q")
    if hasattr(kind, "_datatype_enum"):
        types = call.numbers(map(functools.partial(kind._datatype_enum), those))
    call.run()
    return [one for one, of in zip(ids, types) if of != _RESOURCE] if types else list(ids)


_RESOURCE = 20  # TensorFlow's number of the type of handles: a variable has one, and whoever has it, the variable

# Bytes of an element, by TensorFlow's number of its data type, which is part of the format of its graphs.
_TYPE_BYTES = {
    1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 7: 16, 8: 8, 9: 8, 10: 1, 11: 1, 12: 1, 13: 4, 14: 2, 15: 2, 16: 2, 17: 2,
    18: 16, 19: 2, 22: 4, 23: 8,
}  # fmt: skip
