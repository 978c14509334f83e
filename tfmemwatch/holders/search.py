"""The shortest way to a thing from the program's own names. Bounded, and nothing is kept alive by it.

A way is ids; what stands at each of its steps is asked for again when it is told, one thing after the other.
"""

from __future__ import annotations

import time
from array import array
from typing import Any, Callable, Collection, Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from ..heap import frames
from ..heap.leaves import framework_leaves, ids_of_modules, leaves
from ..heap.one_call import HOLD_SECONDS
from ..heap.search import Reached, search
from ..heap.weights import sizers_of_plain
from ..model import UNKNOWN, Site
from .roots import Root, finalizers, frameworks, libraries, mine, of_file

SECONDS = 0.2  # for a search, in the background: for all of its parts
CALLERS_SECONDS = 0.05  # and in a thread of the program's
_LOCALS = 0.4  # of what is left of them, for the variables of functions of the file where a thing was made
_MOST_VALUES = 100  # large ones that are named at one look


class Way(NamedTuple):
    """From a namespace to a thing, by the ids of all that lies between."""

    root: Root
    steps: Tuple[int, ...]


class Met:
    """What can be reached from some namespaces, and by which ways."""

    def __init__(self, roots: List[Root], reached: Reached) -> None:
        self._roots = roots
        self._reached = reached

    def lengths(self) -> Iterator[Tuple[int, int]]:
        """The collections that were met: their ids, and how long they are."""
        reached, first = self._reached, len(self._roots)
        rows = zip(reached.things, reached.lengths)
        return ((thing, length) for number, (thing, length) in enumerate(rows) if length and number >= first)

    def measured(self) -> Tuple[array[int], array[int]]:
        """The ids of all things that were met, and how long they are: 0 for what is empty or no collection."""
        return self._reached.things, self._reached.lengths

    @property
    def is_cut(self) -> bool:
        """Whether the time was over before all was seen."""
        return self._reached.is_cut

    def large(self, least: int, most_names: int) -> List[Tuple[Way, int]]:
        """The ways to large parts with a name, and their bytes."""
        rows = sorted(self._reached.large(least, most_names), key=lambda row: -row[1])
        return [(Way(self._roots[self._reached.root_of(way)], way[1:]), size) for way, size in rows[:_MOST_VALUES]]

    def way_to(self, thing: int) -> Optional[Way]:
        """The way to a thing; None where it was not met."""
        found = self._reached.way_to(thing)
        return Way(self._roots[self._reached.root_of(found)], found[1:]) if found else None


def look_through(
    roots: List[Root], goals: Iterable[int] = (), seconds: float = HOLD_SECONDS, with_locals: bool = False,
    sizers: Optional[Dict[int, Any]] = None, enter_frameworks: bool = True, of: Collection[str] = (),
) -> Met:  # fmt: skip
    """Search from these namespaces, and from the variables of the functions that run; in one call into C.

    `of`: of the functions of these modules only.
    """
    goals = frozenset(goals)
    closed = [*ids_of_modules(), *frames.ids()]
    spaces = [(root, space) for root, space in ((root, root.namespace()) for root in roots) if space is not None]
    chosen, namespaces = [root for root, _ in spaces], [space for _, space in spaces]

    def variables() -> List[Dict[str, Any]]:
        found = []
        for one in frames.running() if with_locals else ():
            if of and one.module not in of:
                continue
            # What a variable itself stands for has a better name as like as not: it is asked for last.
            named = ((name, value) for name, value in one.variables if id(value) not in goals and name.isidentifier())
            found.append(dict(named))
            chosen.append(Root(one.module, None, one.function, one.thread))
        return found

    closed_kinds = leaves() if enter_frameworks else framework_leaves()
    return Met(chosen, search(namespaces, goals, closed, seconds, variables, sizers, closed_kinds))


def values_in(roots: List[Root], least: int, most_names: int, seconds: float) -> List[Tuple[Way, int]]:
    """The ways to large plain values with a name, and their bytes.

    First those of the functions that run: however much the rest of the program has, they are seen.
    """
    found: List[Tuple[Way, int]] = []
    sizers = sizers_of_plain()
    for begin, with_locals in (([], True), (roots, False)):
        met = look_through(begin, (), seconds / 2, with_locals, sizers, False)
        found += met.large(least, most_names)
    return found


def way_to(goals: Iterable[int], seconds: float, near: Site = UNKNOWN) -> Optional[Way]:
    """The shortest way to one of some things, from the nearest names there are.

    Those of the file in which they were made come first: in a large program the time may not do for all.
    """
    goals = frozenset(goals)
    if not goals:
        return None
    for met in _met(near, goals, seconds):
        found = next(filter(None, map(met.way_to, goals)), None)
        if found is not None:
            return found
    return _variable(goals)


def _met(near: Site, goals: FrozenSet[int], seconds: float) -> Iterator[Met]:
    """What the names of one file lead to, then the variables of its functions that run; then all names."""
    ends = time.thread_time() + seconds
    roots = of_file(near.file) if near.file else []
    if roots:
        yield look_through(roots, goals, min(seconds, HOLD_SECONDS), enter_frameworks=False)
        left = _LOCALS * (ends - time.thread_time())
        if left > 0:
            yield look_through([], goals, left, True, enter_frameworks=False, of=[root.module for root in roots])
    yield from searches(STAGES, goals, ends - time.thread_time())


Stage = Tuple[Callable[[], List[Root]], bool]
# From where, and whether the objects of TensorFlow and Keras are entered: there are so many of them.
STAGES: Tuple[Stage, ...] = (
    (mine, False), (mine, True), (finalizers, True), (libraries, True), (frameworks, True)
)  # fmt: skip


def searches(stages: Iterable[Stage], goals: Iterable[int], seconds: float) -> Iterator[Met]:
    """What each stage meets; where one of the program's own has been cut short, what each of its names leads to.

    The seconds are those of the processor: a busy machine is no reason to see less.
    """
    ends = time.thread_time() + seconds

    def left() -> float:
        return min(ends - time.thread_time(), HOLD_SECONDS)

    cut: List[bool] = []
    for stage, enters in stages:
        if left() <= 0:
            return
        is_mine = stage is mine
        met = look_through(stage(), goals, left(), is_mine, None, enters)
        yield met
        if is_mine and met.is_cut:
            cut.append(enters)
    for enters in cut[:1]:
        for root in [None, *mine()]:
            if left() <= 0:
                return
            yield look_through([] if root is None else [root], goals, left(), root is None, None, enters)


def _variable(goals: Iterable[int]) -> Optional[Way]:
    """A variable that stands for one of these things: of a loop, as like as not, which holds one, and not for long."""
    for one in frames.running():
        for thing in map(id, map(_second, one.variables)):
            if thing in goals:
                return Way(Root(one.module, None, one.function, one.thread), (thing,))
    return None


def _second(pair: Tuple[str, Any]) -> Any:
    return pair[1]
