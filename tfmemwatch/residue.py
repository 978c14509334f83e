"""What calls of a model leave in native memory: told once it is seen that nothing of Python's grows with it."""

from __future__ import annotations

import gc
import sys
from typing import Any, Callable, Iterable, List, NamedTuple, Optional

from . import census, guard
from .memory import least
from .model import Site, count_of, size_of
from .operations import LEAST_NEW, Operations
from .retained import Rise

_LEAST_CALLS = 768  # between the two: in the middle of a call there are hundreds of blocks more than between calls
_SHARE = 0.25  # of what is left, or of the calls: what makes up so much of it may be the cause
_BLOCKS_A_CALL = 0.5  # an array or a tensor that is kept is one or two


class Row(NamedTuple):
    """One way of calling one model."""

    site: Site
    call: str
    rise: Rise

    @property
    def cause(self) -> str:
        """What its calls do, for a sentence."""
        rise = self.rise
        return "each call of %s leaves about %s (%s calls)" % (self.call, size_of(rise.per_call), count_of(rise.over))


class _Case(NamedTuple):
    """What there was when the looking began."""

    rise: Rise
    calls: int
    grown: int
    python_blocks: float
    before: census.Census
    has_window: bool


class Residue:
    """Looks at what calls leave; of what rises it counts Python's things twice, some hundreds of calls apart."""

    def __init__(self, operations: Operations, tensor: Callable[[], Optional[type]]) -> None:
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

    def _begin(self, rises: List[Rise]) -> None:
        rise = next((one for one in rises if one.is_suspected and one.waits_for <= one.calls), None)
        if rise is None:
            return
        is_shared = self._operations.is_open  # by an inquiry, which closes it
        blocks = _python_blocks()  # before there is anything of ours
        self._case = _Case(rise, rise.calls, rise.grown, blocks, census.take(self._tensor()), not is_shared)
        if not is_shared:
            self._operations.open()

    def _go_on(self, rows: List[Row], unexplained: bool) -> None:
        case = self._case
        assert case is not None
        rise, calls, blocks = case.rise, case.rise.calls - case.calls, case.python_blocks
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
            self.stop()  # nothing of ours is there when Python's blocks are counted
        if not is_held and _python_blocks() - blocks < _BLOCKS_A_CALL * calls:
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
        held = sum(_gained(thing, case.before, after) for thing in census.grown(case.before, after, 2))
        return after.tensors - case.before.tensors >= _SHARE * calls or held >= _SHARE * grown


def _python_blocks() -> float:
    """Python's small blocks after a collection."""
    gc.collect()
    return least(getattr(sys, "getallocatedblocks", lambda: 0))


def _gained(thing: Any, before: census.Census, after: census.Census) -> float:
    more = after.lengths[id(thing)] - before.lengths[id(thing)]
    return more * census.weight_of_item(thing, more).bytes
