"""One line's things of one kind, and the weak references by which the living among them are known."""

from __future__ import annotations

import itertools
import weakref
from types import FrameType
from typing import Any, Callable, Dict, Iterator, Optional, Set, Tuple

from ..model import Key, Site
from ..safety.turn import Reference


class ThingReference(Reference):
    """To one living thing. A set holds it, and nothing else does, until the thing dies."""

    __slots__ = ("account", "bytes", "order", "since", "sizer")
    account: Account
    bytes: int  # not there until it has been weighed
    order: int  # of the births
    since: float  # not there where it does not end before it dies: the clock costs as much as the rest of a birth
    sizer: Callable[[Any], int]  # not there where it has no size


class Account:
    """One kind of thing, or of event, at one line.

    What the program's threads and finalizers do to it is one step of C each: they share it without a lock.
    """

    __slots__ = (
        "add", "alive", "born", "bytes", "closed", "died", "dropped", "ended", "ends", "gone", "is_new", "is_sized",
        "key", "kind", "live_bytes", "made", "not_closed", "note", "number", "of_things", "place", "seconds", "stack",
        "was_alive",
    )  # fmt: skip

    def __init__(self, key: Tuple[Any, ...], number: int, note: str, stack: Tuple[Site, ...]) -> None:
        self.kind: str = key[0]
        self.of_things: bool = key[1]
        self.place = key[2:]  # file, line and function, or a site
        self.number = number  # in the order of first events: causes come before effects
        self.note = note
        self.stack = stack
        self.key: Optional[Key] = None  # once it has been read
        self.made = itertools.count()  # how many things were born, or have happened with nothing else to be said
        self.alive: Set[ThingReference] = set()
        self.add = self.alive.add
        self.gone = self.alive.discard  # what a weak reference calls: no Python code runs, so nothing can come of it
        self.closed, self.not_closed = itertools.count(), itertools.count()  # of things that end before they die
        self.ended: Dict[str, Account] = {}  # by how they ended
        self.is_new = True  # there were births or events since it was read
        self.is_sized = self.ends = False
        self.was_alive = 0
        # Of things, as they were read; of events, as they were counted.
        self.born = self.died = self.dropped = self.live_bytes = self.bytes = 0
        self.seconds = 0.0

    @property
    def has_changed(self) -> bool:
        """Whether anything was born, has happened or has died since it was read."""
        return self.is_new or len(self.alive) != self.was_alive

    def refresh(self) -> None:
        """Bring the numbers up to date with the living."""
        self.is_new = False
        self.born = value_of(self.made)  # before the living are counted: none of them is taken for dead
        self.was_alive = len(self.alive)
        self.died = max(self.died, self.born - self.was_alive)
        if self.is_sized:
            self.live_bytes = sum(getattr(ref, "bytes", 0) for ref in list(self.alive))


def value_of(count: Iterator[int]) -> int:
    """How far a counter has come, without moving it: `count(7)`."""
    return int(repr(count)[6:-1])


class Makers(Dict[Tuple[str, int, int], Tuple[Any, Account]]):
    """The accounts of what some steps of the program's code have made: by kind, id of the code and step in it.

    A reference to the code stands beside each: the id of code that has died may be another's.
    """

    MOST = 4096

    def learn(self, kind: str, frame: FrameType, account: Account) -> None:
        """The step at which a frame stands makes what is counted there."""
        if len(self) >= self.MOST:
            self.clear()
        self[kind, id(frame.f_code), frame.f_lasti] = (weakref.ref(frame.f_code), account)
