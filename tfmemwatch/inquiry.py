"""Evidence for memory that nothing counted explains: taken for a short while, bounded, and at growing distances."""
from __future__ import annotations

import gc
import sys
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from . import census, source
from .advice import advice
from .growth import COUNT_STEPS, Series
from .memory import PYTHON_BLOCK_BYTES, Memory
from .model import UNKNOWN, Finding, Site
from .operations import Operation, Operations

_FLOOR = 3  # looks whose least value makes one floor of the first suspicion
_FLOORS = 8  # floors that must rise, but for one, before anything is looked into
_LOOKS_FOR_OPERATIONS = 32
_LOOKS_FOR_OBJECTS = 112
_LEAST_CALLS = 12
_LEAST_RISE = 32 * 1024  # bytes over the first suspicion: below it is noise on any machine


class Pace(NamedTuple):
    """What growth is worth a finding: so many bytes a look, and so many in all."""

    bytes_a_look: float
    bytes_in_all: float


class _Suspicion:
    """Whether memory in use seems to rise: cheap, and often wrong."""

    def __init__(self) -> None:
        self._floors: List[float] = []
        self._least = float("inf")
        self._left = _FLOOR

    def rises(self, held: float) -> bool:
        self._least = min(self._least, held)
        self._left -= 1
        if self._left:
            return False
        floors = self._floors
        floors.append(self._least)
        del floors[: -_FLOORS - 1]
        self._least, self._left = float("inf"), _FLOOR
        ups = sum(after > before for before, after in zip(floors, floors[1:]))
        return ups >= _FLOORS - 1 and floors[-1] - floors[0] >= _LEAST_RISE

    def forget(self) -> None:
        self._floors = []


class _Container:
    """A collection under watch, and how its length went."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.start = len(thing)
        self.climbs = 0
        self.series = Series(COUNT_STEPS)
        self.last = self.start

    def look(self) -> None:
        length = len(self.thing)
        self.climbs += length > self.last
        self.last = length
        self.series.update(length)

    @property
    def grown(self) -> int:
        return self.last - self.start


class Inquiry:
    """Waits until memory rises unexplained; then watches operations, tensors and containers, and says what it saw."""

    def __init__(
        self, operations: Operations, recording: Callable[[], List[Any]], caches: Callable[[], List[Site]],
        pace: Pace, per: str, unit: float = 1.0,
    ) -> None:  # fmt: skip
        self._operations = operations
        self._recording = recording
        self._caches = caches
        self._pace = pace
        self._per = per
        self._unit = unit
        self._suspicion = _Suspicion()
        self._wait = 0
        self._patience = 64  # looks between two inquiries that found nothing; doubles each time
        self._looks = -1
        self.finding: Optional[Finding] = None

    def look(self, memory: Memory, unexplained: bool, now: float, read: Callable[[], Memory]) -> bool:
        """Take one reading; True when there is a finding, or the one there was is over."""
        held = float(memory.held_bytes or 0)
        if self._looks >= 0:
            return self._go_on(unexplained, now, read)
        self._wait -= 1
        if self._suspicion.rises(held) and unexplained and self._wait <= 0:
            self._begin(now, read)
        return False

    def stop(self) -> None:
        """Let go of everything, whatever was under way."""
        self._operations.close()
        self._containers: List[_Container] = []
        self._looks = -1
        self._suspicion.forget()

    def _begin(self, now: float, read: Callable[[], Memory]) -> None:
        gc.collect()
        self._began = now
        self._first = self._middle = read()
        self._before = census.take()
        self._tensors = self._before.tensors
        self._containers = []
        self._looks = 0
        self._rows: List[Operation] = []
        self._operations.open()

    def _go_on(self, unexplained: bool, now: float, read: Callable[[], Memory]) -> bool:
        self._looks += 1
        for container in self._containers:
            container.look()
        self._containers = [one for one in self._containers if not census.is_abandoned(one.thing, 4)]
        if not unexplained:
            self._give_up(again=16)
            return False
        if self._looks in (8, 24):
            self._find_containers()
        if self._looks == _LOOKS_FOR_OPERATIONS:
            self._rows = self._operations.read()
            self._operations.close()
            return self._judge_operations(now, read)
        if self._looks == _LOOKS_FOR_OBJECTS // 2:
            gc.collect()
            self._middle = read()
        if self._looks >= _LOOKS_FOR_OBJECTS:
            return self._judge_objects(now, read)
        return False

    def _find_containers(self) -> None:
        after = census.take()
        known = [one.thing for one in self._containers]
        for thing in census.grown(self._before, after, max(3, self._looks // 4)):
            if not any(thing is other for other in known):
                self._containers.append(_Container(thing))

    def _grown(self, read: Callable[[], Memory]) -> Tuple[float, float]:
        """Bytes in use after a collection: more than at the beginning, and the share of Python objects in it."""
        gc.collect()
        self._last = read()
        grown = float((self._last.held_bytes or 0) - (self._first.held_bytes or 0))
        blocks = (self._last.python_blocks - self._first.python_blocks) * PYTHON_BLOCK_BYTES
        return grown, blocks / grown if grown > 0 else 0.0

    def _is_material(self, grown: float) -> bool:
        return grown >= self._pace.bytes_a_look * self._looks and grown >= self._pace.bytes_in_all

    def _judge_operations(self, now: float, read: Callable[[], Memory]) -> bool:
        """Ever new attributes, numbers or shapes are exact: a short watch is enough."""
        grown, _ = self._grown(read)
        if not self._is_material(grown) or self._containers_grow():
            return False
        for row in self._rows:
            name = _operation_story(row)
            if name is not None:
                row_bytes = max(row.kept_bytes, 650 * row.numbers)
                if row_bytes >= 0.2 * grown:
                    return self._found(name, row.site, row.name, row.calls, grown, now, 0.9)
        return False

    def _containers_grow(self) -> bool:
        return any(one.climbs * 4 >= self._looks for one in self._containers)

    def _judge_objects(self, now: float, read: Callable[[], Memory]) -> bool:
        grown, blocks = self._grown(read)
        half = float((self._middle.held_bytes or 0) - (self._first.held_bytes or 0))
        steady = grown > 0 and half <= 0.62 * grown
        if not steady or not self._is_material(grown):
            return self._give_up()
        return (
            self._judge_containers(now, grown)
            or self._judge_tapes(now, grown)
            or self._judge_caches(now, grown)
            or self._judge_rest(now, grown, blocks)
        )

    def _judge_containers(self, now: float, grown: float) -> bool:
        for one in sorted(self._containers, key=lambda one: -one.grown * census.size_of_item(one.thing)):
            if one.climbs * 8 < self._looks or one.grown * census.size_of_item(one.thing) < 0.1 * grown:
                continue
            holder = census.holder_of(one.thing)
            if holder is None or holder.bound is not None:
                continue
            tensors = census.holds_tensors(one.thing)
            name = "live_tensors" if tensors else "python_objects"
            site = UNKNOWN
            if holder.line is not None:
                site = Site(*holder.line)
                name = "tensor_cache" if tensors else name
            else:
                site = line_for(holder) or UNKNOWN
            if site is UNKNOWN and holder.module.split(".")[0] in ("tensorflow", "keras", "tf_keras"):
                continue
            return self._found(name, site, holder.path, one.grown, grown, now, 0.95, holder.path)
        return False

    def _judge_tapes(self, now: float, grown: float) -> bool:
        tapes = [tape for tape in self._recording() if tape.seconds > 0]
        more = census.take().tensors - self._tensors
        if not tapes or more < self._looks // 2:
            return False
        return self._found("open_tape", tapes[0].site, "", more, grown, now, 0.9)

    def _judge_caches(self, now: float, grown: float) -> bool:
        caches = self._caches()
        if not caches or not any("Iterator" in row.name for row in self._rows):
            return False
        return self._found("cache_dataset", caches[0], "", self._looks, grown, now, 0.8)

    def _judge_rest(self, now: float, grown: float, blocks: float) -> bool:
        """Nothing that can be named holds it: said only where it is much, and twice as long in coming."""
        if grown < 4 * self._pace.bytes_a_look * self._looks or grown < 4 * self._pace.bytes_in_all:
            return self._give_up()
        if blocks > 0.5:
            return self._found("python_heap", UNKNOWN, "", 0, grown, now, 0.5)
        top = self._rows[0] if self._rows and self._rows[0].kept_bytes > 0 else None
        at, name = (top.site, top.name) if top is not None else (UNKNOWN, "no operation of TensorFlow's")
        return self._found("native_heap", at, name, 0, grown, now, 0.5)

    def _found(
        self, story: str, at: Site, what: str, count: int, grown: float, now: float, sure: float, holder: str = ""
    ) -> bool:
        row = advice(story, what)
        looks = max(1, self._looks)
        self.finding = Finding(
            kind=row.kind, site=at, since=self._began, count=count, rate=count / looks * self._unit, per=self._per,
            bytes=int(grown), verdict="leak", cause=row.cause, cure=row.cure, confidence=sure, holder=holder,
        )  # fmt: skip
        self._give_up(again=4 * looks)
        return True

    def _give_up(self, again: Optional[int] = None) -> bool:
        """End this inquiry; the next one waits longer."""
        over = again is None and self.finding is not None
        if over:
            self.finding = None
        if again is None:
            self._patience = min(2 * self._patience, 1 << 20)
        self._wait = self._patience if again is None else again
        self.stop()
        return over


def _operation_story(row: Operation) -> Optional[str]:
    """Which of TensorFlow's caches an operation fills, if its calls are ever new."""
    if row.calls < _LEAST_CALLS:
        return None
    if row.numbers >= 0.8 * min(row.calls, 256):
        return "scalar"
    if row.signatures >= 0.8 * min(row.calls, 256) and row.kept_bytes / row.calls > 2000:
        return "executable" if row.is_function else "kernel"
    return None


def line_for(holder: census.Holder) -> Optional[Site]:
    """The line that fills a collection, looked for in the source of the module that owns it first."""
    first = getattr(sys.modules.get(holder.module), "__file__", None)
    lines = source.putting_into(holder.name, source.project_files([first] if first else []))
    return lines[0] if lines else None
