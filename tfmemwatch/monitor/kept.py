"""Tensors and arrays that a block has put into collections and left there: counted before and after it.

Only numbers and ids are held in between.
"""

from __future__ import annotations

import sys
from itertools import chain, islice, zip_longest
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..evidence import census
from ..evidence.lengths import SECONDS, Lengths, longer, read
from ..explain.advice import advice
from ..heap.classes import ids_of, with_children
from ..heap.one_call import HOLD_SECONDS, OneCall, of_types
from ..heap.parts import along
from ..heap.room import room
from ..heap.shapes import shapes
from ..heap.tensors import elements
from ..holders.bounds import bounded_on, may_be_bounded, unbounded
from ..holders.filling_line import line_for
from ..holders.names import holder_at
from ..holders.search import Way
from ..ledger.site import is_framework
from ..memory.limits import Limits
from ..model import LEAK, UNKNOWN, Finding, Site
from ..units import size_of
from .watch import Watch

_MOST = 24  # collections that are asked about
_MOST_PARTS = 20000  # that are looked at to find the arrays in one of them
_MOST_COUNTED = 1000  # items of one
_DEPTH = 4  # an item, its attributes, a list among them, and what that holds
_LEAST_BYTES = 1024  # of an array
_OF_EXPECTED = 0.5  # the least share of its growth so far with which a collection must go on
_HANDLES = (20, 21)  # TensorFlow's numbers of data types that are no data: of variables, iterators, tables

_FIRST_MIDDLE, _APART = 4, 4  # the steps after which lengths are read in between, and how many times more each time


class Kept(NamedTuple):
    """What one collection keeps of a block."""

    word: str  # tensors or arrays
    number: int
    bytes: float
    holder: str
    site: Site

    def __str__(self) -> str:
        row = advice("live_tensors" if self.word == "tensors" else "python_objects")
        return "%s: %d %s (%s) are put into %s and never taken out. %s" % (
            self.site.short, self.number, self.word, size_of(self.bytes), self.holder, row.cure,
        )  # fmt: skip

    def as_finding(self, steps: int, since: int) -> Finding:
        """The same as a finding, of so many steps after the warm-up."""
        row = advice("live_tensors" if self.word == "tensors" else "python_objects", self.holder)
        return Finding(
            kind=row.kind, site=self.site, since=since, grown=self.number, rate=self.number / max(1, steps),
            per="step", bytes=int(self.bytes), verdict=LEAK, cause=row.cause, cure=row.cure, confidence=1.0,
            holder=self.holder, counted=self.word,
        )  # fmt: skip


class Middle(NamedTuple):
    """What there was when so many steps were counted."""

    steps: int
    reading: Lengths


def kept(before: Lengths, middle: Optional[Middle], after: Lengths, steps: int, near: Sequence[Site]) -> List[Kept]:
    """What the collections that have grown since then keep of tensors and arrays; those with a bound are left out."""
    old = before.by_id()
    lengths = longer(before, after)
    then = middle.reading.by_id() if middle is not None else {}
    found = []
    for one in sorted(lengths, key=lambda one: old[one] - lengths[one])[:_MOST]:
        way = after.way_to(one)
        goes_on = None  # not known: it was not met in between
        if middle is not None and one in then:
            goes_on = _goes_on(then[one] - old[one], lengths[one] - old[one], middle.steps, steps)
        if way is not None and goes_on is not False:
            found.append(_kept_at(way, lengths[one] - old[one], goes_on is not None, near))
    return _together([one for one in found if one is not None])


def _together(rows: List[Kept]) -> List[Kept]:
    """Those that have one name and one line are one: the lists in a dict."""
    found: Dict[Tuple[str, str, Site], Kept] = {}
    for row in rows:
        key = (row.word, row.holder, row.site)
        if key in found:
            row = row._replace(number=row.number + found[key].number, bytes=row.bytes + found[key].bytes)
        found[key] = row
    return list(found.values())


def _goes_on(first: int, more: int, middle_steps: int, steps: int) -> bool:
    """Whether a collection that grew by so much until the middle, and by so much in all, grew on about as fast."""
    return more - first >= _OF_EXPECTED * first * (steps - middle_steps) / middle_steps


def _kept_at(way: Way, more: int, is_proven: bool, near: Sequence[Site]) -> Optional[Kept]:
    """What a collection keeps in so many more items; None where it has a bound, or may well have one."""
    what = _what_is_in(way, more)
    named = holder_at(way) if what is not None else None
    holder = unbounded(named) if named is not None and bounded_on(way) is None else None
    if what is None or holder is None or is_framework(holder.module):
        return None
    site = line_for(holder, near) or UNKNOWN
    if not is_proven and may_be_bounded(holder, site):
        return None
    word, number, size = what
    return Kept(word, number, size, holder.path, site)


def _what_is_in(way: Way, more: int) -> Optional[Tuple[str, int, float]]:
    """Tensors or arrays: their word, how many there are in so many more items, and their bytes."""
    weight = census.weight_at(way, more)
    tensors, arrays, arrays_bytes = _found_in(way)
    enough = min(more, _MOST_COUNTED) / 2
    if weight.tensors >= 0.5 and tensors >= enough:
        return "tensors", round(weight.tensors * more), weight.bytes * more
    if weight.bytes >= _LEAST_BYTES and arrays >= enough and arrays_bytes >= _LEAST_BYTES * arrays:
        return "arrays", more, weight.bytes * more
    return None


class Filling(NamedTuple):
    """A collection that has a bound, is not full, and what has come into it."""

    holder: str
    length: int
    bound: int
    bytes: float  # of what has come into it
    way: Way

    def __str__(self) -> str:
        return "%s fills (%d of at most %d items, %s more)" % (
            self.holder, self.length, self.bound, size_of(self.bytes)
        )  # fmt: skip


def filling(before: Lengths, after: Lengths, left_bytes: float) -> List[Filling]:
    """The collections that have grown since then and will be full, before so many bytes are used up."""
    old, lengths = before.by_id(), longer(before, after)
    found: List[Filling] = []
    for one in sorted(lengths, key=lambda one: old[one] - lengths[one])[:_MOST]:
        way = after.way_to(one)
        holder = bounded_on(way) if way is not None else None
        if way is None or holder is None or holder.bound is None or is_framework(holder.module):
            continue
        more = lengths[one] - old[one]
        each = census.weight_at(way, more).bytes
        if each * holder.bound < left_bytes and not any(_is_within(way, other.way) for other in found):
            found.append(Filling(holder.path, lengths[one], holder.bound, each * more, way))
    return found


def _is_within(way: Way, other: Way) -> bool:
    """Whether one is a part of the other: what is in it is counted there."""
    steps, others = tuple(way.steps), tuple(other.steps)
    return way.root == other.root and (steps[: len(others)] == others or others[: len(steps)] == steps)


class KeptCount:
    """Counts what collections keep of a block, from when it is made.

    In between it looks ever more seldom, so that it costs little for each step, how long those are that have grown.
    """

    def __init__(self, watch: Watch, near: Site) -> None:
        self._watch = watch
        self._near = near  # where the block is
        self._before = self._read()._replace(met=())
        self._middles: List[Middle] = []
        self._next_middle = _FIRST_MIDDLE
        self.left_out = self._before.left_out  # what could not be counted, and why

    @property
    def at_first(self) -> Lengths:
        """What there was when the counting began."""
        return self._before

    def look(self, steps: int, seconds: float = SECONDS) -> Optional[Lengths]:
        """So many steps were counted; what was read, if this was one after which it is, in so much time at most."""
        if steps < self._next_middle or not self._before.things:
            return None
        self._next_middle *= _APART
        reading = self._read(max(HOLD_SECONDS, min(SECONDS, seconds)))
        self._middles = [*self._middles[-1:], Middle(steps, reading._replace(met=()))]
        return reading

    def now(self, steps: int) -> List[Kept]:
        """What collections keep now, after so many steps."""
        if not self._before.things:
            return []
        after = self._read()
        self.left_out = self._before.left_out or after.left_out
        middle = next((one for one in self._middles[::-1] if 4 * one.steps <= 3 * steps), None)
        return kept(self._before, middle, after, steps, (self._near,))

    def filling(self) -> List[Filling]:
        """Collections with a bound that this block has filled some more."""
        if not self._before.things:
            return []
        left = min((limit.left_bytes for limit in Limits().read()), default=sys.maxsize)
        return filling(self._before, self._read(), left)

    def _read(self, seconds: float = SECONDS) -> Lengths:
        """What there is, as far as evidence may be taken."""
        watch = self._watch
        why = "" if watch.config.evidence else "evidence is off"
        why = why or ("" if watch.scene.rank else "the level is off")
        why = why or ("" if room.bytes >= room.LEAST else "memory is near its limit")
        if why:
            return Lengths((), (), "what collections keep was not counted: " + why)
        return read(self._near, seconds)


def _found_in(way: Way) -> Tuple[int, int, int]:
    """The tensors and arrays in the newest items of a collection, or in what they hold; and the bytes of the arrays.

    A variable's handle is no tensor here.
    """
    namespace = way.root.namespace(way.steps[0])
    if namespace is None:
        return 0, 0, 0
    kind: Any = getattr(sys.modules.get("numpy"), "ndarray", None)
    tensor_kinds, array_kinds = census.tensor_kinds(), with_children((kind,) if kind is not None else ())
    call, sized = OneCall(), shapes()
    around, boxes = along(call, namespace, way.steps), []
    for _ in range(_DEPTH):
        around = call.box(islice(chain.from_iterable(call.lists(sized.parts_of(around))), _MOST_PARTS))
        boxes.append(around)
    tensors = call.box(of_types(lambda: chain.from_iterable(boxes), ids_of(tensor_kinds)))
    arrays = call.box(of_types(lambda: chain.from_iterable(boxes), ids_of(array_kinds)))
    tensor_ids, (_, types) = call.numbers(map(id, tensors)), elements(call, tensors, tensor_kinds)
    array_ids = call.numbers(map(id, arrays))
    sizes = call.numbers(map(kind.nbytes.__get__, arrays)) if kind is not None else ()
    call.run()
    plain = {one for one, data_type in zip_longest(tensor_ids, types) if data_type not in _HANDLES}
    weights = dict(zip(array_ids, sizes))
    return len(plain), len(weights), sum(weights.values())
