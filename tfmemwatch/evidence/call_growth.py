"""What calls of a model leave in native memory: told once it is seen that nothing of Python's grows with it."""

from __future__ import annotations

from typing import Callable, Iterable, List, NamedTuple, Optional

from ..growth.per_call import GrowthPerCall
from ..heap import collector
from ..heap.leaves import know_classes
from ..heap.room import heap_size, python_blocks
from ..memory.process import least
from ..model import Site
from ..safety import guard
from ..units import count_of, size_of
from . import census
from .instruments.operations_window import OperationsWindow
from .operations import LEAST_NEW

_LEAST_CALLS = 768  # between the two: in the middle of a call there are hundreds of objects more than between calls
_SHARE = 0.25  # of what is left, or of the calls: what makes up so much of it may be the cause
_THINGS_A_CALL = 0.5  # what is kept is one or more


class Row(NamedTuple):
    """One way of calling one model."""

    site: Site
    call: str
    rise: GrowthPerCall

    @property
    def cause(self) -> str:
        """What its calls do, for a sentence."""
        rise = self.rise
        return "each call of %s leaves about %s (%s calls)" % (self.call, size_of(rise.per_call), count_of(rise.over))


class _Case(NamedTuple):
    """What there was when the looking began."""

    rise: GrowthPerCall
    calls: int
    grown: int
    python_things: float
    before: census.Census
    has_window: bool


class CallGrowth:
    """Looks at what calls leave; of what rises it counts Python's things twice, some hundreds of calls apart."""

    def __init__(self, operations: OperationsWindow, tensor: Callable[[], Optional[type]]) -> None:
        self._operations = operations
        self._tensor = tensor
        self._case: Optional[_Case] = None
        self.leaking: List[Row] = []

    def look(self, rows: Iterable[Row], unexplained: bool) -> bool:
        """Take one look; True when what leaks is no longer the same."""
        rows = list(rows)
        if self._case is not None:
            self._go_on(rows, unexplained)
        elif unexplained:
            self._begin([row.rise for row in rows])
        before, self.leaking = self.leaking, [row for row in rows if row.rise.is_leak]
        return [row.rise for row in before] != [row.rise for row in self.leaking]

    def stop(self) -> None:
        """Let go of everything that was under way."""
        if self._case is None:
            return
        if self._case.has_window:
            self._operations.close()
        self._case = None
        guard.disturbed()

    def _begin(self, rises: List[GrowthPerCall]) -> None:
        rise = next((one for one in rises if one.is_suspected and one.waits_for <= one.calls), None)
        if rise is None:
            return
        is_shared = self._operations.is_open  # by an inquiry, which closes it
        know_classes()  # what is remembered of them stays, and is ours
        things = _python_things()  # before there is anything else of ours
        self._case = _Case(
            rise, rise.calls, rise.grown, things, census.take(self._tensor())._replace(met=()), not is_shared
        )
        if not is_shared:
            self._operations.open()

    def _go_on(self, rows: List[Row], unexplained: bool) -> None:
        case = self._case
        assert case is not None
        rise, calls, things = case.rise, case.rise.calls - case.calls, case.python_things
        if not unexplained or not rise.is_suspected or not any(row.rise is rise for row in rows):
            self.stop()
            return
        if calls < _LEAST_CALLS:
            return
        rise.wait()
        try:
            is_held = self._asks_anew() or self._is_held_in_python(case)
        finally:
            del case
            self.stop()  # nothing of ours is there when Python's objects are counted
        if not is_held and _python_things() - things < _THINGS_A_CALL * calls:
            rise.confirm()

    def _asks_anew(self) -> bool:
        """Whether an operation has attributes or numbers that are ever new: then a cache of TensorFlow's grows."""
        return any(
            max(row.signatures, row.numbers) >= max(LEAST_NEW, _SHARE * row.calls) for row in self._operations.read()
        )

    def _is_held_in_python(self, case: _Case) -> bool:
        """Whether there are more tensors, or a collection holds much more than before."""
        calls, grown = case.rise.calls - case.calls, case.rise.grown - case.grown
        after = census.take(self._tensor())
        held = sum(one.more * census.weight_at(one.way, one.more).bytes for one in census.grown(case.before, after, 2))
        return after.tensors - case.before.tensors >= _SHARE * calls or held >= _SHARE * grown


def _python_things() -> float:
    """How many objects Python's collector knows, after a collection where one may be made.

    Not its blocks: they grow for thousands of calls, since Python keeps some of those that were freed. Where there are
    too many objects to count, blocks must do.
    """
    collector.collect()
    return least(python_blocks) if heap_size.too_large() else float(heap_size.count())
