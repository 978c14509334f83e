"""Large plain values that the program has by a name: arrays, text, bytes.

What is made anew with more in it each time is no collection, and no census of lengths sees it grow.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Tuple

from ..heap.one_call import HOLD_SECONDS
from ..holders.names import holder_at
from ..holders.roots import mine
from ..holders.search import values_in
from ..holders.steps import owner_at

_LARGE_BYTES = 1 << 16
_MOST_NAMES = 2000  # of one dict: what has more keys is a collection


class Value(NamedTuple):
    """A large value; it is not held."""

    name: str
    path: str  # as one would say it
    bytes: int


Values = Dict[Tuple[int, str], Value]


def large() -> Values:
    """Those that the program's own modules, objects and running functions have, and dicts of theirs."""
    found = {}
    for way, size in values_in(mine(), _LARGE_BYTES, _MOST_NAMES, HOLD_SECONDS):
        holder = holder_at(way)
        if holder is not None:
            found[owner_at(way), holder.names[0]] = Value(holder.names[0], holder.path, size)
    return found


def grown(before: Values, after: Values, least: float) -> Optional[Value]:
    """The one that has grown most, by so many bytes or more."""
    rows = [(value.bytes - (before[key].bytes if key in before else 0), value) for key, value in after.items()]
    most, value = max(rows, key=lambda row: row[0], default=(0, None))
    return value if most >= least else None
