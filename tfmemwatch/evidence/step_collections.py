"""Collections counted at the steps of a block: exactly, and long before memory tells anything.

Lengths are compared now and then; what has become longer is asked for its length from step to step.
"""

from __future__ import annotations

import collections
import math
from typing import Callable, Dict, FrozenSet, List, NamedTuple, Optional, Tuple

from ..explain.advice import advice
from ..heap.parts import kind_at
from ..heap.shapes import base_of
from ..holders.search import Way
from ..holders.steps import length_at
from ..model import LEAK, UNKNOWN, Finding, Site
from ..safety import guard
from . import census, still_growing
from .evidence import Holding
from .growing_collection import GrowingCollection
from .holding import holding_at
from .lengths import Lengths, longer
from .still_growing import StillGrowing

CLIMBS = 24  # counted, after which what is kept from growing by nothing that can be seen is a leak
_BY_CHANCE = 6  # times as many, where keys may come from a set that has an end
_MAYBE_BOUNDED = 9  # times as many, where some line takes something out of it, or asks how long it is
_LONGER = 2  # times as long as when it was passed by: then it is asked for again
_MOST = 12  # that are followed at the same time
_MOST_FOUND = 50
_LEAST_BYTES = 1000  # of an item, or in a step: summaries that are kept of each step are little
_SHARE = 0.5  # of what has come into use, for one collection to explain it
_LEAST_LOOKS_TO_BE_OVER = 8
_MOST_LOOKS = 512  # at one collection, after which it is looked at half as often
_REGULAR = 16  # looks in a row with as many new items each: the keys are ever new, and none comes by chance

Counted = Callable[[], FrozenSet[int]]  # the ids of living things that are counted one by one


class _Followed:
    """One collection that grows."""

    def __init__(self, way: Way, length: int, at_first: int, since: int, now: int, stride: int, holding: Holding,
                 held: float) -> None:  # fmt: skip
        self.collection = GrowingCollection(way, length)
        self.holding = holding
        self.held = held  # bytes in use when it was found
        self.is_in_order = _base_at(way) in (list, collections.deque)  # things are added whatever it has; none by a key
        self._credit = min(CLIMBS // 2, length - at_first, now - since)  # what came before was counted, too
        self.at_first = at_first  # its length when it was first read
        self.since = since  # the step of that reading
        self.stride = stride
        self.next = now + stride
        self.rises: List[int] = []  # of its length, from look to look
        self.is_of_counted: Optional[bool] = None  # whether its items are counted one by one, and no story of their own

    def look(self, step: int) -> None:
        """Ask for its length, where it is due."""
        if step < self.next:
            return
        before = self.collection.last
        self.collection.look()
        self.rises.append(self.collection.last - before)
        del self.rises[:-_REGULAR]
        if self.collection.number_of_looks >= _MOST_LOOKS:
            self.collection.thin_out()
            self.stride *= 2
        self.next = step + self.stride

    @property
    def is_regular(self) -> bool:
        """Whether it has become longer by as much each time; where a look comes in some steps, by about as much."""
        if len(self.rises) < _REGULAR or min(self.rises) == 0:
            return False
        return max(self.rises) - min(self.rises) <= (self.stride > 1)

    @property
    def needs(self) -> int:
        """So many climbs are enough."""
        if self.holding.may_be_bounded:
            return _MAYBE_BOUNDED * CLIMBS
        return CLIMBS if self.is_in_order or self.is_regular else _BY_CHANCE * CLIMBS

    @property
    def is_ripe(self) -> bool:
        """Whether it has climbed often enough, and climbs on as before."""
        one = self.collection
        climbs = one.climbs + self._credit
        if self.holding.may_be_filling(one.last, one.grown / max(1, self.stride * one.number_of_looks)):
            return False
        return climbs >= CLIMBS and climbs >= self.needs and one.goes_on and not one.slows_down and not one.adds_less

    @property
    def waits(self) -> bool:
        """Whether it may have a bound, or an end."""
        return self.needs > CLIMBS or self.holding.may_be_filling(self.collection.last)

    @property
    def is_about_to_be_told(self) -> bool:
        """Whether some more steps will do."""
        one = self.collection
        return not self.waits and self.is_of_counted is None and one.always_climbs

    @property
    def grown(self) -> int:
        """Items more than at first."""
        return self.collection.last - self.at_first


class _Filling(NamedTuple):
    """A collection that is about to be full, as it was when it was found."""

    way: Way
    length: int
    held: float  # bytes in use then

    def holds_since(self, share: float, held: float) -> bool:
        """Whether what has come into it makes up so much of what has come into use."""
        more = (length_at(self.way) or 0) - self.length
        return more > 0 and more * census.weight_at(self.way, more).bytes >= share * (held - self.held)


class _Found:
    """One that was told, as long as it grows."""

    def __init__(self, followed: _Followed, story: str, weight: census.Weight, step: int) -> None:
        self.followed = followed
        self._story = story
        self._weight = weight
        took = max(_LEAST_LOOKS_TO_BE_OVER, step - followed.since)
        self._still: StillGrowing = still_growing.of_items(took, self._length)

    @property
    def id(self) -> int:
        return self.followed.collection.id

    def _length(self) -> Optional[int]:
        length = length_at(self.followed.collection.way)
        if length is not None:
            self.followed.collection.last = length
        return length

    def has_stopped(self) -> bool:
        """Take one look; whether it has not grown for as many steps as it took to be told."""
        return self._still.has_stopped()

    def finding(self, step: int) -> Finding:
        """As it is now."""
        followed, holding = self.followed, self.followed.holding
        row = advice(self._story, holding.path)
        grown = followed.grown
        rate = grown / max(1, step - followed.since)
        return Finding(
            kind=row.kind, site=holding.line, since=followed.since, grown=grown, rate=rate, per="step",
            bytes=int(grown * self._weight.bytes), verdict=LEAK, cause=row.cause, cure=row.cure, confidence=0.95,
            holder=holding.path, leaves=rate * self._weight.bytes,
        )  # fmt: skip


class StepCollections:
    """Which collections grow, and are leaks since nothing that can be seen keeps them from it.

    A look costs a length for each that grows, at the steps at which it is due: some 10 µs.
    """

    def __init__(self, near: Site, at_first: Lengths, counted: Counted) -> None:
        self._near = near
        self._before = at_first
        self._before_at = 0
        self._first: Dict[int, int] = {}
        self._counted = counted
        self._followed: List[_Followed] = []
        self._found: List[_Found] = []
        self._passed_by: Dict[int, int] = {}  # what needs no following, with its length then
        self._filling: List[_Filling] = []  # those with a bound
        self._step = 0
        self._held = 0.0  # bytes in use at the last look

    # -- what is read

    def measured(self, step: int, now: Lengths) -> None:
        """Compare lengths with those that were read before: what is longer is followed from now on."""
        old, lengths = self._before.by_id(), longer(self._before, now)
        known = {one.collection.id for one in self._followed} | {one.id for one in self._found}
        known |= {one for one, length in self._passed_by.items() if lengths.get(one, 0) < _LONGER * length}
        self._filling = [one for one in self._filling if one.way.steps[-1] in known]  # a bound that is passed is none
        new = sorted((one for one in lengths if one not in known), key=lambda one: old[one] - lengths[one])
        for one in new[: 4 * _MOST]:
            way = now.way_to(one) if len(self._followed) < _MOST else None
            holding = holding_at(way, (self._near,)) if way is not None else None
            if way is not None and holding is not None and holding.is_bounded:
                self._filling = [*self._filling[-_MOST:], _Filling(way, lengths[one], self._held)]
            if way is None or holding is None or _is_nobodys(holding):
                if len(self._passed_by) < 4096:
                    self._passed_by[one] = lengths[one]
                continue
            a_step = (lengths[one] - old[one]) / max(1, step - self._before_at)
            stride = max(1, math.ceil(1 / a_step))
            self._followed.append(
                _Followed(way, lengths[one], old[one], self._before_at, step, stride, holding, self._held)
            )
        self._before, self._before_at = now._replace(met=()), step

    def look(self, step: int, held: float) -> bool:
        """Take one look, with so many bytes in use; True where there is something to tell."""
        self._step, self._held = step, held
        for one in self._followed:
            one.look(step)
        self._followed = [one for one in self._followed if not one.collection.has_gone]
        ripe = [one for one in self._followed if one.is_ripe and not one.is_of_counted]
        news = [one for one in ripe if self._becomes_found(one)]
        over = [one for one in self._found if one.has_stopped()]
        self._found = [one for one in self._found if one not in over]
        return bool(news or over)

    def _becomes_found(self, one: _Followed) -> bool:
        """Ask at last what is in it; what is remembered for that is the watch's."""
        guard.disturbed()
        own = census.own_of_items(one.collection.way, one.collection.grown)
        if one.is_of_counted is None:
            one.is_of_counted = not own.isdisjoint(self._counted())
        if one.is_of_counted or len(self._found) >= _MOST_FOUND:
            return False
        weight = census.weight_at(one.collection.way, one.collection.grown)
        is_of_tensors = weight.tensors >= 0.5
        a_step = weight.bytes * one.grown / max(1, self._step - one.since)
        self._followed.remove(one)
        if not is_of_tensors and max(a_step, weight.bytes) < _LEAST_BYTES:
            self._passed_by[one.collection.id] = one.collection.last
            return False
        story = "live_tensors" if is_of_tensors else "python_objects"
        if one.holding.is_cache and is_of_tensors:
            story = "tensor_cache"
        self._found.append(_Found(one, story, weight, self._step))
        return True

    # -- what is known

    @property
    def findings(self) -> List[Finding]:
        """What grows and has no bound."""
        return [one.finding(self._step) for one in self._found]

    def explains(self, held: float) -> bool:
        """Whether what memory shows has a name already: what is told, about to be told, or fills up to its bound."""
        if self._found or any(one.is_about_to_be_told for one in self._followed):
            return True
        fillings = [*self._filling, *(_Filling(one.collection.way, one.collection.start, one.held)
                                      for one in self._followed if one.waits)]  # fmt: skip
        return any(one.holds_since(_SHARE, held) for one in fillings)

    @property
    def waiting(self) -> Optional[Tuple[str, int, int]]:
        """The name, length and possible bound of one that goes on to grow, would be told, and may have a bound."""
        for one in self._followed:
            collection = one.collection
            if one.waits and not one.is_of_counted and collection.climbs >= CLIMBS and collection.goes_on:
                a_step = collection.weight.bytes * one.grown / max(1, self._step - one.since)
                if max(a_step, collection.weight.bytes) >= _LEAST_BYTES:
                    return one.holding.path, collection.last, one.holding.may_be_kept_at
        return None

    @property
    def keeper(self) -> Optional[Holding]:
        """The collection that keeps things which are counted one by one."""
        return next((one.holding for one in self._followed if one.is_of_counted and one.holding.line != UNKNOWN), None)


def _base_at(way: Way) -> type:
    """The builtin class that a collection is of."""
    namespace = way.root.namespace(way.steps[0])
    kind = kind_at(namespace, way.steps) if namespace is not None else None
    return object if kind is None else base_of(kind)


def _is_nobodys(holding: Holding) -> bool:
    """Whether it has a bound, or is a library's own affair."""
    return holding.is_bounded or holding.is_frameworks or (holding.line == UNKNOWN and holding.is_librarys)
