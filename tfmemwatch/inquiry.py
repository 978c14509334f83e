"""Evidence for memory that nothing counted explains: taken for a short while, bounded, and at growing distances."""

from __future__ import annotations

import atexit
import gc
import sys
from collections import deque
from contextlib import contextmanager
from typing import Any, Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import census, guard, source, values
from .advice import advice
from .followed import Followed
from .holders import CALLERS_SECONDS, SECONDS, path_to
from .keeper import line_for, line_of_names, line_on, may_be_bounded, unbounded
from .memory import PYTHON_BLOCK_BYTES, Memory, least
from .model import FILLING, LEAK, UNKNOWN, Finding, Site, count_of, size_of
from .operations import LEAST_NEW, Operation, Operations, functions_together, goes_on, growing_output, story_of
from .site import is_framework, is_users
from .suspicion import Suspicion

_LOOKS_FOR_OPERATIONS = 32
_LOOKS_FOR_OBJECTS = 112
_LOOKS_FOR_FLOOR = 12
_PARTS = 14  # of an inquiry, whose floors tell a jump from a rise that slows down
_MOST_LOOKS_ON = 3  # times that an inquiry which met a jump leaves its first half behind
_LOOKS_WHEN_SURE = 48  # in a loop with steps, for a collection that nothing in the source can keep from growing
_MISSES = 2  # inquiries that must find nothing before what was found is over
_SHAPES_KEPT = 2 * 1024  # at most: TensorFlow keeps 1,024 of oneDNN's primitives of each operation, and oneDNN its own
_LONG = 64  # items of a collection whose length is remembered for a whole inquiry
# Operations that put something into what TensorFlow keeps for the program, and those that take it out again.
_TAKES_IN = {"QueueEnqueue": "QueueDequeue", "LookupTableInsert": "LookupTableRemove", "Stage": "Unstage",
             "BarrierInsert": "BarrierTake", "StackPush": "StackPop"}  # fmt: skip
_NUMBER_BYTES = 650  # of one cached scalar, as measured
_NO_CENSUS = census.Census({}, 0)


class Pace(NamedTuple):
    """What growth is worth a finding: so many bytes a look, so many in all, and as straight as that."""

    bytes_a_look: float
    bytes_in_all: float
    first_half: float  # largest share that the first half may have; by the clock more: looking slows the program down


class _Reading(NamedTuple):
    """What an inquiry compares: memory after a collection, at one of its looks."""

    look: int
    now: float
    held: float  # bytes in use; by the clock the least of some looks, of which many meet a call and what it has in hand
    python_blocks: int
    tensors: int = 0


class Inquiry:
    """Waits until memory rises unexplained; then watches operations, tensors and containers, and says what it saw."""

    def __init__(
        self, operations: Operations, recording: Callable[[float], List[Site]],
        hoarders: Callable[[], List[Tuple[Site, str]]], pace: Pace, per: str, unit: float = 1.0,
        tensor: Callable[[], Optional[type]] = lambda: None, ask: Optional[Callable[[], Dict[str, int]]] = None,
    ) -> None:  # fmt: skip
        """`ask` empties TensorFlow's caches and says what each gave back; it is called where that is allowed."""
        self._operations = operations
        self._recording = recording
        self._hoarders = hoarders
        self._pace = pace
        self._tensor_type = tensor
        self._ask = ask
        self._working: Dict[str, int] = {}
        self._modules = 0
        self._per = per
        self._by_clock = per != "step"
        self._unit = unit
        self._suspicion = Suspicion()
        self._recent: Deque[float] = deque(maxlen=_LOOKS_FOR_FLOOR)
        self._wait = 0
        self._patience = 16  # looks between two inquiries that found nothing; doubles each time
        self._quiet = self._age = self._misses = 0
        self._doubted: Set[str] = set()  # what was seen once, and is believed when it is seen again
        self._filling_from: Optional[float] = None  # bytes in use when a cache was first seen that has an end
        self.filling = ""  # what it is, while it fills
        self._looks = -1
        self.is_kept_back = False  # memory rises, and an inquiry would begin if no count rose with it
        self._containers: List[Followed] = []
        self._rows: List[Operation] = []
        self.finding: Optional[Finding] = None

    def look(self, memory: Memory, unexplained: bool, now: float, read: Callable[[], Memory]) -> bool:
        """Take one reading; True when there is a finding, or the one there was is over."""
        held = float(memory.held_bytes or 0)
        self._recent.append(held)
        self.is_kept_back = False
        if self._looks >= 0:
            self._helds.append(held)
            with self._ended_by_failure():
                return self._go_on(unexplained, now, read)
        self._wait -= 1
        self._quiet += 1
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._suspicion.forget()  # a program that still imports is still starting
        if self._suspicion.rises(held):
            self._quiet = 0
            if self._wait <= 0 and not self._operations.is_open:
                self.is_kept_back = not unexplained
                if unexplained:
                    self.begin(now, read)
        self._age += 1
        if self._quiet > 4 * _LOOKS_FOR_OBJECTS:
            self.filling = ""
        if self.finding is not None and self._quiet > 4 * _LOOKS_FOR_OBJECTS + self._age / 2:
            self.finding = None
            return True
        return False

    @property
    def is_open(self) -> bool:
        """Whether evidence is being taken."""
        return self._looks >= 0

    def stop(self) -> None:
        """Let go of everything, whatever was under way."""
        self._operations.close()
        self._containers = []
        if self._looks >= 0:
            self._before = _NO_CENSUS
            guard.disturbed()
        self._looks = -1
        self._suspicion.forget()

    @contextmanager
    def _ended_by_failure(self) -> Iterator[None]:
        """A failure of ours ends the inquiry: one that is half begun, or half done, would fail at each look."""
        try:
            yield
        except Exception:
            self._give_up()
            raise

    def begin(self, now: float, read: Callable[[], Memory]) -> None:
        """Begin to take evidence."""
        with self._ended_by_failure():
            self._begin(now, read)

    def _begin(self, now: float, read: Callable[[], Memory]) -> None:
        if self._ask is not None:
            gc.collect()
            self._ask()
        self._tensor = self._tensor_type()
        self._helds: List[float] = []  # at each look of this inquiry
        self._looks = self._looked_on = 0
        first = self._read(now, read)
        self._half: Dict[Tuple[Site, str], Operation] = {}
        self._outputs: Dict[Tuple[Site, str], Operation] = {}
        self._before = census.take(self._tensor)
        self._long = {key: length for key, length in self._before.lengths.items() if length >= _LONG}
        self._first = self._middle = self._last = first._replace(tensors=self._before.tensors)
        self._tensors_at_first = self._before.tensors
        self._exits_at_first = _exits()
        self._values = values.large()
        self._is_explained = False  # what grows has an end
        self._containers = []
        self._asked_at = _LOOKS_FOR_OBJECTS // 4
        self._window = _LOOKS_FOR_OPERATIONS
        self._lasts = _LOOKS_FOR_OBJECTS
        self._rows = []
        self._operations.open()

    def _go_on(self, unexplained: bool, now: float, read: Callable[[], Memory]) -> bool:
        self._looks += 1
        for container in self._containers:
            container.look()
        self._containers = [one for one in self._containers if not one.is_ours_alone]
        if not unexplained:
            self._give_up(again=16)
            return False
        if self._looks in (8, 24):
            self._find_containers()
        if self._looks == _LOOKS_FOR_OPERATIONS // 2:
            rows = self._operations.read()
            if not any(max(row.signatures, row.numbers) >= LEAST_NEW for row in functions_together(rows)):
                self._window = _LOOKS_FOR_OBJECTS  # a slow program does little in so short a while
        if self._looks == self._window // 2:
            self._outputs = {(row.site, row.name): row for row in self._operations.read()}
            rows = functions_together(list(self._outputs.values()))
            self._half = {(row.site, row.name): row for row in rows}
            self._operations.go_on()
        if self._looks == self._window:
            self._rows = self._operations.read()
            self._operations.close()
            if self._judge_operations(now, read):
                return True
        if self._looks == _LOOKS_FOR_OBJECTS // 4 and self._ask is not None:
            self._working = self._ask()
        if self._looks == _LOOKS_FOR_OBJECTS // 2:
            self._middle = self._with_tensors(self._read(now, read))
        if self._looks == _LOOKS_WHEN_SURE and not self._by_clock:
            grown = self._grown(now, read)
            if self._is_material(grown) and self._judge_sure_containers(now, grown):
                return True
        if self._looks >= self._lasts:
            return self._judge_objects(now, read)
        return False

    def _find_containers(self) -> None:
        after = census.take(self._tensor)
        known = [one.thing for one in self._containers]
        for thing in census.grown(self._before, after, max(2, self._looks // 6)):
            if not any(thing is other for other in known):
                self._containers.append(Followed(thing))
        # The second time against the first: what was still short then is long enough now. Then none is kept: a census
        # weighs some megabytes, which would be taken for the program's.
        self._before = after if self._looks < 24 else _NO_CENSUS
        guard.disturbed()

    def _read(self, now: float, read: Callable[[], Memory]) -> _Reading:
        gc.collect()
        memory = read()
        held = float(memory.held_bytes or 0)
        if self._by_clock:
            held = min([least(lambda: float(read().held_bytes or 0)), *self._recent])
        return _Reading(self._looks, now, held, memory.python_blocks)

    def _with_tensors(self, reading: _Reading) -> _Reading:
        return reading._replace(tensors=self._tensors_now())

    def _grown(self, now: float, read: Callable[[], Memory]) -> float:
        """Bytes in use after a collection: more than at the beginning."""
        self._last = self._read(now, read)
        return self._last.held - self._first.held

    @property
    def _span(self) -> int:
        """The looks over which growth is measured."""
        return self._looks - self._first.look

    def _is_material(self, grown: float, times: float = 1.0) -> bool:
        pace = self._pace
        return grown >= times * pace.bytes_a_look * self._span and grown >= times * pace.bytes_in_all

    def _is_much(self, grown: float) -> bool:
        """What cannot be told from noise by counting must be more than noise."""
        return self._is_material(grown, 4)

    def _judge_operations(self, now: float, read: Callable[[], Memory]) -> bool:
        """Ever new attributes, numbers or shapes are exact: a short watch is enough."""
        grown = self._grown(now, read)
        for row in self._rows:  # numbers first: they are counted, and each is known to be kept
            size = _NUMBER_BYTES * row.numbers / self._operations.covered
            half = self._half.get((row.site, row.name))
            if half is not None and goes_on(half.numbers, row.numbers) and self._is_material(8 * size):
                return self._found("scalar", row.site, row.name, row.numbers, max(size, grown), now, 0.9)
        if not self._is_material(grown) or self._containers_hold(grown):
            return False
        for row in functions_together(self._rows):
            name = story_of(row, self._half.get((row.site, row.name)))
            if name is not None and row.kept_bytes / self._operations.covered >= 0.2 * grown:
                return self._found(name, row.site, row.name, row.signatures, grown, now, 0.9)
        return False

    def _containers_hold(self, grown: float) -> bool:
        return any(one.climbs * 4 >= self._looks and one.bytes >= 0.2 * grown for one in self._containers)

    def _judge_objects(self, now: float, read: Callable[[], Memory]) -> bool:
        grown = self._grown(now, read)
        half = self._middle.held - self._first.held
        steady = grown > 0 and half <= self._pace.first_half * grown
        if not self._is_material(grown):
            return self._give_up()
        if self._judge_containers(now, grown):  # what is counted is straight, whatever else bends the bytes
            return True
        if self._looks < self._lasts:
            return False  # it was made to look on
        if self._judge_exits(now, grown) or self._judge_tensors(now, grown) or self._judge_asked(now, grown):
            return True
        if not steady:  # what remembers all elements of an endless dataset grows by doubling
            if self._by_clock and self._judge_caches(now, grown):
                return True
            return False if self._looks_on(grown - half) else self._give_up()
        return self._judge_growing(now, grown) or self._judge_caches(now, grown) or self._judge_rest(now, grown)

    def _looks_on(self, later: float) -> bool:
        """Where it was one jump that bent it: the half before is left behind, and the next half decides."""
        if self._looked_on >= _MOST_LOOKS_ON or not self._is_material(2 * later) or not self._has_jumped():
            return False
        self._first, self._middle = self._middle, self._with_tensors(self._last)
        self._lasts += self._span
        self._looked_on += 1
        return True

    def _has_jumped(self) -> bool:
        """Whether it is straight without the one part of the first half that rose most, and its like in the second."""
        helds = self._helds[self._first.look :]
        size = max(1, len(helds) // _PARTS)
        floors = [min(helds[at : at + size]) for at in range(0, len(helds), size)]
        rises = [after - before for before, after in zip(floors, floors[1:])]
        middle = len(rises) // 2
        first, second = (sum(part) - max(part, default=0.0) for part in (rises[:middle], rises[-middle:]))
        return second > 0 and first <= self._pace.first_half * (first + second)

    def _judge_sure_containers(self, now: float, grown: float) -> bool:
        """Before the time: what holds most of it, climbs at every look, and has nothing to keep it from growing."""
        for one in self._containers:
            if not one.always_climbs or one.bytes < 0.4 * grown:
                continue
            holder = unbounded(census.holder_of(one.thing))
            site = line_for(holder, self._near()) if holder is not None else None
            if holder is None or site is None or may_be_bounded(holder, site):
                continue
            return self._found_in(one, holder, site, now, grown)
        return False

    def _judge_containers(self, now: float, grown: float) -> bool:
        is_early = self._looks < (1.5 if self._by_clock else 2) * _LOOKS_FOR_OBJECTS
        for one in sorted(self._containers, key=lambda one: -one.bytes):
            if one.climbs * 8 < self._looks or one.bytes < 0.1 * grown or not one.goes_on:
                continue
            holder = unbounded(census.holder_of(one.thing))
            if holder is None:
                continue
            site = line_for(holder, self._near()) or UNKNOWN
            if site is UNKNOWN and (holder.is_within or not is_users(holder.module, True)):
                continue  # what a library keeps inside, and no line of the program's is known to fill
            if one.slows_down and not is_early:
                continue
            may_end = may_be_bounded(holder, site)
            if is_early and (may_end or one.slows_down):
                # What things are taken out of may well have a bound; by the clock what is found is no warning yet.
                self._look_for_longer(0.5 if self._by_clock else 1.0)
                return False
            is_sure = not may_end or not self._is_doubted_by_clock(holder.path)
            return self._found_in(one, holder, site, now, grown, is_sure)
        return False

    def _found_in(
        self, one: Followed, holder: census.Holder, site: Site, now: float, grown: float, is_sure: bool = True
    ) -> bool:
        name = "live_tensors" if one.weight.tensors >= 0.5 else "python_objects"
        if holder.line is not None and name == "live_tensors":
            name = "tensor_cache"
        found = self._found(name, site, holder.path, one.grown, grown, now, 0.95, holder.path, is_sure)
        if self.finding is not None:  # it is known for so many looks, and had grown before
            self.finding = self.finding._replace(rate=one.rate * self._unit)
        return found

    def _near(self) -> List[Site]:
        """Lines that were seen to run operations."""
        rows = self._rows or (self._operations.read() if self._operations.is_open else [])
        return [row.site for row in rows]

    def _judge_asked(self, now: float, grown: float) -> bool:
        """Emptied after a quarter of the looks, a cache gave back its working set and a little; now all the rest."""
        rest, self._asked_at = self._looks - self._asked_at, self._looks
        for name, given in (self._ask() if self._ask is not None else {}).items():
            more = given - self._working.get(name, 0)
            share = more * self._span / (rest - _LOOKS_FOR_OBJECTS // 4)
            if self._is_material(share) and share >= 0.3 * grown:
                at, _ = self.heaviest
                return self._found("asked", at, name, 0, share, now, 0.8)
        return False

    def _judge_growing(self, now: float, grown: float) -> bool:
        """One tensor that is made anew with more in it each time, and kept."""
        row = self._growing(grown, 0.3)
        largest = census.largest_kept(self._tensor, 0.3 * grown) if row is not None and self._tensor is not None else []
        if row is None or not largest:
            return False
        if self._is_doubted("growing"):  # a window that fills has met its end by the next time
            return False
        return self._found("growing_tensor", row.site, row.name, row.calls, grown, now, 0.8, self._way_to(largest))

    def _growing(self, grown: float, share: float) -> Optional[Operation]:
        """An operation whose result has grown by this share of what is kept, or more."""
        for row in self._rows:
            larger = growing_output(row, self._outputs.get((row.site, row.name))) * self._span / self._window
            if share * grown <= larger:
                return row
        return None

    def _takes_in(self, row: Operation) -> bool:
        """Whether an operation puts into a queue or a table much more than is taken out of it."""
        for puts, takes in _TAKES_IN.items():
            if row.name.startswith(puts) and row.calls * 8 >= self._window:
                return sum(other.calls for other in self._rows if other.name.startswith(takes)) <= 0.7 * row.calls
        return False

    def _judge_exits(self, now: float, grown: float) -> bool:
        """What is to be called at exit stands in a table of the interpreter's own, which no census sees."""
        more = _exits() - self._exits_at_first
        lines = source.using("atexit", source.project_files()) if more >= max(2, self._span // 2) else []
        if not lines:
            return False
        story = "live_tensors" if self._tensors_now() - self._first.tensors >= more // 2 else "python_objects"
        return self._found(story, lines[0], "the table of atexit", more, grown, now, 0.8, "atexit")

    def _tensors_now(self) -> int:
        return len(census.tensors(self._tensor))

    def _judge_tensors(self, now: float, grown: float) -> bool:
        """Tensors grow in number: a tape that records holds them, or many small collections that grow in turn."""
        tensors = census.tensors(self._tensor)
        more, first = len(tensors) - self._first.tensors, self._middle.tensors - self._first.tensors
        count = len(tensors) - self._tensors_at_first
        if more < self._span // 2 or first <= 0 or more - first < 0.6 * first:
            return False
        # By the clock one reads in the middle of a step, and its tape is open.
        tapes = self._recording(now - self._first.now if self._by_clock else 0.0)
        if tapes:
            summed = source.summed_up(row.site for row in self._rows)
            if summed is not None:
                return self._found("summed_under_tape", summed, "", count, grown, now, 0.8)
            return self._found("open_tape", tapes[0], "", count, grown, now, 0.9)
        above = census.Above()
        is_collected = False
        for index in range(1, more, max(1, more // 4)):  # some of those that came last
            collection = census.collection_of(tensors[-index], above, tensors)
            named = census.holder_of(collection, above) if collection is not None else None
            is_collected = is_collected or named is not None
            holder = unbounded(named)
            site = line_for(holder, self._near()) if holder is not None else None
            if holder is None or site is None or is_framework(holder.module):
                continue
            if self._has_an_end(collection):
                self._is_explained = True
                return False
            return self._found("live_tensors", site, holder.path, count, grown, now, 0.8, holder.path)
        return not is_collected and self._judge_chain(tensors[-more:], count, grown, now)

    def _has_an_end(self, collection: Any) -> bool:
        """Whether it was as long before as it is now, and its places are filled; or it fills ever more slowly."""
        if self._long.get(id(collection)) == len(collection):
            return True
        return any(one.thing is collection and one.has_slowed_down for one in self._containers)

    def _judge_chain(self, tensors: List[Any], count: int, grown: float, now: float) -> bool:
        """Tensors in no collection: a chain of objects, each with the one before it."""
        way = self._way_to(tensors)
        at = line_on(way, self._near()) or self.heaviest[0]
        if not way or at is UNKNOWN or " its cache" in way:  # one without a bound is a collection, and known
            return False
        return self._found("live_tensors", at, way.rpartition(" → ")[0], count, grown, now, 0.7, way)

    def _way_to(self, things: List[Any]) -> str:
        return path_to(things, SECONDS if self._by_clock else CALLERS_SECONDS)

    def _judge_caches(self, now: float, grown: float) -> bool:
        """Elements are taken from an iterator, and some dataset remembers all of them."""
        hoarders = self._hoarders() if any("Iterator" in row.name for row in self._rows) else []
        if not hoarders or (not self._is_much(grown) and self._is_doubted("caches")):
            return False
        at, method = hoarders[0]
        story = "cache_dataset" if method == "cache" else "hoarding_dataset"
        return self._found(story, at, method, self._looks, grown, now, 0.8)

    def _judge_rest(self, now: float, grown: float) -> bool:
        """Nothing that can be named holds it: said only where it is much, and twice as long in coming."""
        larger = self._growing(grown, 0.5)
        is_explained = (
            self._is_explained or self._bounded_hold(grown) or (larger is None and self._fills_by_shape(grown))
        )
        if is_explained or not self._floor_rises(grown):
            return self._give_up()
        taker = next(filter(self._takes_in, self._rows), None)
        is_enough = self._is_material(grown, 2) if taker is not None else self._is_much(grown)
        if self._by_clock and (self._looks < 2 * _LOOKS_FOR_OBJECTS or not is_enough):
            return False if self._waits_for_more() else self._give_up()
        if not self._by_clock and (not is_enough or self._is_doubted("the rest")):
            return self._give_up()  # what fills and is emptied in turn looks different the next time
        is_sure = not self._is_doubted_by_clock("the rest")
        if taker is not None:
            return self._found("backlog", taker.site, taker.name, 0, grown, now, 0.7, is_sure=is_sure)
        value = values.grown(self._values, values.large(), 0.4 * grown)
        at = line_of_names([value.name], self._near()) if value is not None else None
        if value is not None and at is not None:
            return self._found("growing_value", at, value.path, 0, grown, now, 0.8, value.path, is_sure)
        if larger is not None:
            what, count = larger.name, larger.calls
            return self._found("growing_tensor", larger.site, what, count, grown, now, 0.7, is_sure=is_sure)
        blocks = self._last.python_blocks - self._first.python_blocks
        if blocks * PYTHON_BLOCK_BYTES > 0.5 * grown:
            return self._found("python_heap", UNKNOWN, "", 0, grown, now, 0.5, is_sure=is_sure)
        at, name = self.heaviest
        return self._found("native_heap", at, name, 0, grown, now, 0.5, is_sure=is_sure)

    def _bounded_hold(self, grown: float) -> bool:
        """Whether collections that may not grow for ever hold most of it: those that may would have been named."""
        held = 0.0
        for one in self._containers:
            if one.grown > 0 and one.bytes >= 0.05 * grown and census.holder_of(one.thing) is not None:
                held += one.bytes
        return held >= 0.5 * grown

    def _fills_by_shape(self, grown: float) -> bool:
        """Whether ever new shapes explain it: oneDNN keeps a primitive for each, but only so many of them."""
        self.filling = ""
        for row in self._rows[:1]:
            half = self._outputs.get((row.site, row.name))
            if half is None or row.is_compiled or not goes_on(half.shapes, row.shapes):
                continue
            if self._filling_from is None:
                self._filling_from = self._first.held
            each = grown / (row.shapes * self._span / self._window)
            if self._last.held - self._filling_from <= _SHAPES_KEPT * each:
                self.filling = "%s for each new shape that %s comes to, as oneDNN keeps of some %s shapes at most" % (
                    size_of(each), row.site.short, count_of(_SHAPES_KEPT),
                )  # fmt: skip
        return bool(self.filling)

    def _waits_for_more(self) -> bool:
        """By the clock a look is no measure of what the program did: what goes on to rise may still become much."""
        if self._looks > 2 * _LOOKS_FOR_OBJECTS:
            return False
        self._look_for_longer(1.0)
        return True

    def _look_for_longer(self, share: float) -> None:
        """By so much of the looks there have been."""
        self._lasts += int(share * self._span)
        self._middle = self._with_tensors(self._last)

    def _floor_rises(self, grown: float) -> bool:
        """Whether the least that was in use has grown too.

        By the clock one reads in the middle of calls as well; and what is filled and emptied in turn may stand a little
        higher at each of three readings, wherever it is then.
        """
        helds = self._helds[self._first.look :]
        part = max(1, len(helds) // (4 if self._by_clock else 2))
        return min(helds[-part:]) - self._first.held >= (0.4 if self._by_clock else 0.3) * grown

    @property
    def heaviest(self) -> Tuple[Site, str]:
        """The operation whose calls left most in use in the last inquiry, and its line; none where that is little."""
        share = 0.2 * (self._last.held - self._first.held) * self._window / max(1, self._span)
        is_much = bool(self._rows) and self._rows[0].kept_bytes / self._operations.covered > max(0.0, share)
        top = self._rows[0] if is_much else None
        return (top.site, top.name) if top is not None else (UNKNOWN, "no operation of TensorFlow's")

    def _is_doubted(self, what: str) -> bool:
        """The first time it is; the next inquiry comes later, and what has a bound may have met it by then."""
        if what in self._doubted or len(self._doubted) > 100:
            return False
        self._doubted.add(what)
        return True

    def _is_doubted_by_clock(self, what: str) -> bool:
        """By the clock one may see a start-up of hours, in which caches fill: the first time it is doubted."""
        return self._by_clock and self._is_doubted(what)

    def _found(
        self,
        story: str,
        at: Site,
        what: str,
        count: int,
        grown: float,
        now: float,
        sure: float,
        holder: str = "",
        is_sure: bool = True,
    ) -> bool:
        self._age = self._misses = 0
        row = advice(story, what)
        looks = max(1, self._looks)
        self.finding = Finding(
            kind=row.kind, site=at, since=self._first.now, grown=count, rate=count / looks * self._unit, per=self._per,
            bytes=int(grown), verdict=LEAK if is_sure else FILLING, cause=row.cause, cure=row.cure,
            confidence=sure if is_sure else sure / 2, holder=holder, leaves=grown / max(1, self._span) * self._unit,
        )  # fmt: skip
        self._patience = max(4 * looks, 2 * self._patience)
        self._give_up(again=self._patience)
        return True

    def _give_up(self, again: Optional[int] = None) -> bool:
        """End this inquiry; the next one waits longer."""
        self._misses += again is None and self.finding is not None
        over = self._misses >= _MISSES
        if over:
            self.finding = None
            self._misses = 0
        if again is None:
            self._patience = min(2 * self._patience, 1 << 20)
        self._wait = self._patience if again is None else again
        self.stop()
        return over


def _exits() -> int:
    """How many functions are to be called at exit."""
    return atexit._ncallbacks() if hasattr(atexit, "_ncallbacks") else 0
