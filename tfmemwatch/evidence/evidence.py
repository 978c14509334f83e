"""All that an inquiry has seen: one plain value, from which the hypotheses conclude.

What costs much to know is a question (`Questions`), asked by a hypothesis that has reason to. A test writes both down.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Callable, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ..holders.search import Way
from ..memory.process import PYTHON_BLOCK_BYTES
from ..model import UNKNOWN, Site
from ..probes.datasets import Remembering
from .census import Weight
from .operations import Operation, Rows, growing_output

_BEYOND = 1.25  # times a number that may bound a collection
_PARTS = 14  # of the looks, whose floors tell a jump from a rise that slows down
_TIMES_LESS = 8  # than other growth must be, where each item is counted and known to be kept
_NO_OPERATION = "no TensorFlow operation"


class Pace(NamedTuple):
    """What growth is worth a finding: so many bytes a look, so many in all, and as straight as that."""

    bytes_a_look: float
    bytes_in_all: float
    first_half: float  # largest share that the first half may have; by the clock more: looking slows the program down


class Reading(NamedTuple):
    """Memory after a collection, at one of the looks."""

    look: int
    now: float
    held: float  # bytes in use; by the clock the least of some looks, of which many meet a call and what it has in hand
    python_blocks: int = 0
    tensors: int = 0


class Collection(NamedTuple):
    """A collection that became longer when it was looked for, and how its length went since then."""

    id: int
    grown: int  # items more than when it was found
    looks: int  # since then
    climbs: int  # looks at which it was longer than before
    goes_on: bool  # it climbed about as often in the later half of the looks as in the earlier one
    slows_down: bool  # it climbed less often in the later half than chance allows

    @property
    def always_climbs(self) -> bool:
        """Whether it has climbed at almost every look."""
        return self.climbs >= 0.9 * self.looks

    @property
    def has_slowed_down(self) -> bool:
        """Whether it fills up, as far as can be seen."""
        return self.slows_down or not self.goes_on

    @property
    def rate(self) -> float:
        """By how many items it grows from look to look."""
        return self.grown / max(1, self.looks)


class Holding(NamedTuple):
    """A collection as the program knows it: by what name, and which line fills it."""

    path: str
    line: Site = UNKNOWN  # that fills it
    is_bounded: bool = False  # it cannot grow for ever
    may_be_bounded: bool = False  # the program takes something out of it somewhere, or asks how long it is
    may_be_kept_at: int = 0  # the largest number that stands where something is taken out, if there is one
    is_taken_from: bool = False  # a line takes something out of it
    is_cache: bool = False  # of a decorated function
    is_librarys: bool = False  # a library keeps it inside
    is_frameworks: bool = False  # TensorFlow or Keras keeps it
    is_as_long_as_before: bool = False  # as when the inquiry began: what it had then has made room for what it has now
    way: Optional[Way] = None
    length: int = 0  # of all of it, where that is known

    def may_be_filling(self, length: int, a_step: float = 1.0) -> bool:
        """Whether it may be full at a number that the source names, and is not yet as long.

        The number may be one of items, or of steps, in each of which so many items come.
        """
        return 0 < length <= _BEYOND * self.may_be_kept_at * max(1.0, a_step)

    @property
    def id(self) -> int:
        """Of the collection; 0 where it is not known."""
        return self.way.steps[-1] if self.way is not None else 0


class Named(NamedTuple):
    """A thing that is no collection, by the names that lead to it, and the line that renews it, where one is known."""

    path: str
    line: Optional[Site]


def _unknown(*_: Any) -> None:
    return None


def _nothing(*_: Any) -> List[Any]:
    return []


class Questions(NamedTuple):
    """What costs something to know. By default nothing is known."""

    weight: Callable[[int], Weight] = lambda _: Weight(0.0, 0.0)  # of one more item, by the id of a collection
    holding: Callable[[int], Optional[Holding]] = _unknown  # by the id of a collection
    items: Callable[[int], str] = lambda _: ""  # of what kind they are, where the cure depends on it, by its id
    keeps_counted: Callable[[int], bool] = lambda _: False  # whether its items keep what counts explain, by its id
    tensors: Callable[[], int] = lambda: 0  # how many eager tensors there are
    collections_of_newest: Callable[[int], Iterable[Optional[Holding]]] = _nothing  # some of so many tensors, in turn
    bytes_of_newest: Callable[[int], int] = lambda _: 0  # of so many tensors together
    chain_of_newest: Callable[[int], Optional[Named]] = _unknown  # the way to one of so many of the newest tensors
    largest_tensor: Callable[[float], Optional[str]] = _unknown  # the way to the largest, if it has so many bytes
    grown_value: Callable[[float], Optional[Named]] = _unknown  # an array, a text, that has grown by so many bytes
    tapes: Callable[[float], List[Site]] = _nothing  # that have recorded for so many seconds
    is_cut: Callable[[Site], bool] = lambda _: False  # whether the source cuts what a line makes longer
    summing: Callable[[], Optional[Site]] = _unknown  # the line among the operations' that carries on a total
    registering_exits: Callable[[], List[Site]] = _nothing  # lines that register what is to be called at exit
    emptied_caches: Callable[[], Mapping[str, int]] = dict  # empties TensorFlow's caches; bytes that each gave back
    remembering: Callable[[], List[Remembering]] = _nothing  # datasets that remember elements


class Evidence(NamedTuple):
    """What was seen since an inquiry began."""

    pace: Pace
    by_clock: bool
    looks: int
    first: Reading
    middle: Reading
    last: Reading
    in_use: Tuple[float, ...] = ()  # bytes, at each look
    operations: Tuple[Operation, ...] = ()  # of the window, the heaviest first
    first_half: Rows = MappingProxyType({})  # the same rows as they were in the middle of the window
    window: int = 1  # looks for which operations were watched
    covered: float = 1.0  # the share of the window in which calls were looked at
    collections: Tuple[Collection, ...] = ()
    tensors_at_first: int = 0  # when the inquiry began
    more_exits: int = 0  # functions to be called at exit, more than when it began
    emptied_at: int = 0  # the look at which TensorFlow's caches were emptied last
    working_sets: Mapping[str, int] = MappingProxyType({})  # bytes given back after a quarter of it
    is_urgent: bool = False  # to look on for as long again would be too late
    looked_on: int = 0  # times that the first half was left behind
    has_an_end: bool = False  # what grows may have one: then nothing is said of what has no name
    is_beside: bool = False  # most of the growth has findings: what is said now must be seen to grow by itself
    known_collections: FrozenSet[int] = frozenset()  # ids of those that have one
    filled_from: Mapping[str, Reading] = MappingProxyType({})  # by hypothesis: since when it fills
    ask: Questions = Questions()

    @property
    def span(self) -> int:
        """The looks over which growth is measured."""
        return self.looks - self.first.look

    @property
    def looks_in_an_hour(self) -> float:
        """By the time that really passed."""
        return 3600 * self.span / max(1e-3, self.last.now - self.first.now)

    @property
    def grown(self) -> float:
        """Bytes in use after a collection: more than at the beginning."""
        return self.last.held - self.first.held

    @property
    def grown_in_first_half(self) -> float:
        """The same of the first half."""
        return self.middle.held - self.first.held

    @property
    def is_of_python(self) -> bool:
        """Whether Python's small objects make up most of it."""
        blocks = self.last.python_blocks - self.first.python_blocks
        return blocks * PYTHON_BLOCK_BYTES > 0.5 * self.grown

    @property
    def is_steady(self) -> bool:
        """Whether the first half has no larger share of the growth than the pace allows."""
        return self.grown > 0 and self.grown_in_first_half <= self.pace.first_half * self.grown

    def is_material(self, grown: float, times: float = 1.0) -> bool:
        """Whether so many bytes are worth a finding."""
        pace = self.pace
        return grown >= times * pace.bytes_a_look * self.span and grown >= times * pace.bytes_in_all

    @property
    def is_much(self) -> bool:
        """What cannot be told from noise by counting must be more than noise."""
        return self.is_material(self.grown, 4)

    def bytes_of(self, one: Collection) -> float:
        """About how much more a collection holds than when it was found."""
        return one.grown * self.ask.weight(one.id).bytes

    def may_accuse(self, one: Collection, share: float) -> bool:
        """Whether a collection makes up a share of what has grown; beside other findings, as much as is worth one."""
        if one.id in self.known_collections:
            return False
        size = self.bytes_of(one)
        if not self.is_beside:
            return size >= share * self.grown
        return self.is_material(_TIMES_LESS * size) and not self.ask.keeps_counted(one.id)

    @property
    def floor_rises(self) -> bool:
        """Whether the least that was in use has grown too.

        By the clock one reads in the middle of calls as well; and what is filled and emptied in turn may stand a little
        higher at each of three readings, wherever it is then.
        """
        in_use = self.in_use[self.first.look :]
        part = max(1, len(in_use) // (4 if self.by_clock else 2))
        return min(in_use[-part:]) - self.first.held >= (0.4 if self.by_clock else 0.3) * self.grown

    @property
    def has_jumped(self) -> bool:
        """Whether it is straight without the one part of the first half that rose most, and its like in the second."""
        in_use = self.in_use[self.first.look :]
        size = max(1, len(in_use) // _PARTS)
        floors = [min(in_use[at : at + size]) for at in range(0, len(in_use), size)]
        rises = [after - before for before, after in zip(floors, floors[1:])]
        middle = len(rises) // 2
        first, second = (sum(part) - max(part, default=0.0) for part in (rises[:middle], rises[-middle:]))
        return second > 0 and first <= self.pace.first_half * (first + second)

    def growing_result(self, share: float) -> Optional[Operation]:
        """An operation whose result has grown by this share of what is kept, or more."""
        for row in self.operations:
            if not row.is_assignment and share * self.grown <= self.larger(row):
                return row
        return None

    def larger(self, row: Operation) -> float:
        """By how many bytes an operation's result, or the value that it assigns, has grown."""
        return growing_output(row, self.first_half.get(row.key)) * self.span / self.window

    @property
    def heaviest(self) -> Tuple[Site, str]:
        """The operation whose calls left most in use, and its line; none where that is little."""
        share = 0.2 * self.grown * self.window / max(1, self.span)
        top = self.operations[0] if self.operations else None
        if top is None or top.kept_bytes / self.covered <= max(0.0, share):
            return NOTHING_HEAVY
        return (top.site, top.name)


NOTHING_HEAVY = (UNKNOWN, _NO_OPERATION)
