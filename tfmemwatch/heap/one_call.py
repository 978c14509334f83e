"""Steps of C, strung together and done in one call, of which plain values come back: numbers, and ids.

Python gives the interpreter to another thread between its own steps, and never within a call into C. So nothing of the
program's is in our hands when its code runs: what it drops dies at once, in its own thread, and in a child that is
forked meanwhile; a tuple that it is still building is never held beside it; and no code of its runs here, since types
are told apart by their ids and lengths asked of exact classes.
"""

from __future__ import annotations

import collections
import functools
import gc
import sys
import time
from array import array
from itertools import chain, compress, starmap
from operator import is_
from types import BuiltinFunctionType
from typing import Any, Callable, Iterable, Iterator, List, Optional

from .classes import Ids

HOLD_SECONDS = 0.04  # for which one call may keep the interpreter
_LONG_SECONDS = 0.005  # after which Python lets another thread have the interpreter: one of those who wait
_PAUSE_SECONDS = 0.001  # in which they all have it
_COLLECTS_IN_C = sys.version_info < (3, 12)  # whether an allocation may begin a garbage collection

apply: Callable[[Any, Any], Any] = functools.partial.__call__
# Of two values: of None and a thing, the thing; of False and a thing, None. A `zip` would keep its last pair.
second = {}.get  # type: ignore[var-annotated]
none_if_false = {False: None}.get
is_none = functools.partial(is_, None)
no_length = is_none  # of anything: False, which is less than any length


class OneCall:
    """Steps that are strung together out of iterators, and then done without a step of Python in between."""

    def __init__(self) -> None:
        self._boxes: List[List[Any]] = []
        self._nested: List[List[List[Any]]] = []
        self._was_on: List[bool] = []
        self._steps: List[Iterator[Any]] = []
        if _COLLECTS_IN_C:  # a collection runs finalizers of the program's, and with them other threads
            self._steps.append(map(self._was_on.append, starmap(gc.isenabled, ((),))))
            self._steps.append(starmap(gc.disable, ((),)))

    def box(self, things: Optional[Iterable[Any]] = None) -> List[Any]:
        """A list that is filled in its turn, and emptied at the end."""
        found: List[Any] = []
        self._boxes.append(found)
        if things is not None:
            self.do(map(found.extend, (things,)))
        return found

    def lists(self, made: Optional[Iterable[List[Any]]] = None) -> List[List[Any]]:
        """The same for lists, each of which is emptied too: an iterator that did not come to its end still has one."""
        found = self.box(made)
        self._nested.append(found)
        return found

    def numbers(self, values: Iterable[int]) -> array[int]:
        """Numbers to be kept; eight bytes each."""
        found: array[int] = array("Q")
        self.do(map(found.extend, (values,)))
        return found

    def do(self, step: Iterator[Any]) -> None:
        """One more step; what it yields is dropped."""
        self._steps.append(step)

    def run(self) -> None:
        """Do all of it; after a long call, those who wait for the interpreter all have their turn."""
        began = time.perf_counter()
        self._steps.append(map(list.clear, chain.from_iterable(self._nested)))
        self._steps.append(map(list.clear, self._boxes))
        if _COLLECTS_IN_C:
            self._steps.append(starmap(gc.enable, compress(((),), self._was_on)))
        try:
            collections.deque(chain.from_iterable(self._steps), maxlen=0)
        except BaseException:  # no memory is left: what was begun is undone here
            for box in [*chain.from_iterable(self._nested), *self._boxes]:
                box.clear()
            if self._was_on == [True]:
                gc.enable()
            raise
        is_pythons_own = type(time.sleep) is BuiltinFunctionType  # else green threads would run here
        if time.perf_counter() - began > _LONG_SECONDS and is_pythons_own:
            time.sleep(_PAUSE_SECONDS)


def everything_in(call: OneCall) -> Callable[[], Iterator[Any]]:
    """All that the collector knows, once for each time that it is asked; tuples in it may be unfinished."""
    whole = call.lists()
    call.do(map(whole.append, starmap(gc.get_objects, ((),))))
    return lambda: chain.from_iterable(whole)


def of_types(things: Callable[[], Iterator[Any]], types: Ids) -> Iterator[Any]:
    return compress(things(), map(types.__contains__, map(id, map(type, things()))))


def types_of(things: List[Any]) -> Iterator[int]:
    """The ids of their classes."""
    return map(id, map(type, iter(things)))
