"""The instruments put together: opened, read and closed as one, and their readings as one value."""

from __future__ import annotations

from typing import Callable, Dict, Mapping, Tuple

from ..heap.leaves import know_classes
from ..memory.process import Memory
from .evidence import Evidence, Pace, Reading
from .instruments.exit_functions import ExitFunctions
from .instruments.growing_collections import GrowingCollections
from .instruments.memory_in_use import MemoryInUse
from .instruments.tensorflow_caches import TensorFlowCaches
from .instruments.tensors import Tensors
from .instruments.values import LargeValues
from .operations import LEAST_NEW, Operation, Rows, by_key, functions_together
from .questions import Asked
from .schedule import Schedule
from .sources import Sources

Read = Callable[[], Memory]


class Instruments:
    """All that read while an inquiry lasts."""

    def __init__(self, sources: Sources, pace: Pace, by_clock: bool) -> None:
        self._sources = sources
        self._pace = pace
        self._by_clock = by_clock
        self.memory = MemoryInUse(by_clock)
        self.operations = sources.operations
        self.collections = GrowingCollections()
        self.tensors = Tensors(sources.tensor_class)
        self.values = LargeValues()
        self.exits = ExitFunctions()
        self.caches = TensorFlowCaches(sources.empty_caches)
        self._rows: Tuple[Operation, ...] = ()
        self._first_half: Rows = {}
        self._first = self._middle = self._last = Reading(0, 0.0, 0.0)
        self._tensors_at_first = 0

    def read_first(self, now: float, read: Read) -> Reading:
        """What is in use without garbage, before evidence is taken."""
        if self.caches.is_allowed:
            self.memory.collect()
            self.caches.open()
        self.tensors.open()
        self.memory.open()
        know_classes()  # what is remembered of them is ours, and must be there before the first reading
        return self.memory.reading(0, now, read)

    def open(self, first: Reading) -> None:
        """Begin to take evidence."""
        self._rows, self._first_half = (), {}
        self._tensors_at_first = self.collections.open(self.tensors.kind)
        self._first = self._middle = self._last = first._replace(tensors=self._tensors_at_first)
        self.exits.open()
        self.values.open()
        self.operations.open()

    def close(self) -> None:
        """Let go of everything; what was read can still be asked for."""
        self.operations.close()
        for instrument in (self.collections, self.memory, self.tensors, self.values, self.exits, self.caches):
            instrument.close()

    # -- the window on operations

    def sees_little(self) -> bool:
        """Whether no operation has come to much that is new yet."""
        rows = functions_together(self.operations.read())
        return not any(max(row.signatures, row.numbers) >= LEAST_NEW for row in rows)

    def halve_window(self) -> None:
        """The first half of the window is over."""
        self._first_half = by_key(self.operations.read())
        self.operations.go_on()

    def end_window(self) -> None:
        """The window is over."""
        self._rows = tuple(self.operations.read())
        self.operations.close()

    # -- readings

    def read_middle(self, look: int, now: float, read: Read) -> None:
        """Half of the looks are taken."""
        self._middle = self._with_tensors(self.memory.reading(look, now, read, self._matters(look)))

    def read_last(self, look: int, now: float, read: Read) -> None:
        """What has grown is asked for."""
        self._last = self.memory.reading(look, now, read, self._matters(look))

    def _matters(self, look: int) -> float:
        """So many bytes in use are worth a finding at this look."""
        return self._first.held + max(self._pace.bytes_a_look * (look - self._first.look), self._pace.bytes_in_all)

    @property
    def first_look(self) -> int:
        """From which on growth is measured."""
        return self._first.look

    def halve(self, leaves_first_half: bool) -> None:
        """More looks are to come: the last reading is in the middle; the one before it is the first, if so wished."""
        if leaves_first_half:
            self._first = self._middle
        self._middle = self._with_tensors(self._last)

    def _with_tensors(self, reading: Reading) -> Reading:
        return reading._replace(tensors=self.tensors.look())

    def evidence(self, schedule: Schedule, filled_from: Mapping[str, Reading]) -> Evidence:
        """All that was read, up to the last reading."""
        asked = Asked(self._rows, self.operations, self.collections, self.tensors, self.values, self._by_clock)
        sources = self._sources
        ask = asked.questions()._replace(
            tapes=sources.tapes,
            remembering=sources.remembering,
            emptied_caches=self._emptied(schedule.looks),
            keeps_counted=lambda collection: self.collections.keeps_any(collection, sources.counted()),
        )
        return Evidence(
            pace=self._pace, by_clock=self._by_clock, looks=schedule.looks, first=self._first, middle=self._middle,
            last=self._last, in_use=tuple(self.memory.at_each_look), operations=self._rows,
            first_half=self._first_half, window=schedule.window, covered=self.operations.covered,
            collections=tuple(self.collections.rows()), tensors_at_first=self._tensors_at_first,
            more_exits=self.exits.look(), emptied_at=self.caches.emptied_at, working_sets=self.caches.working_sets,
            looked_on=schedule.looked_on, filled_from=filled_from, ask=ask,
        )  # fmt: skip

    def _emptied(self, looks: int) -> Callable[[], Dict[str, int]]:
        return lambda: self.caches.again(looks)
