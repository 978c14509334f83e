"""How far off the end is: the limits that hold, and the growth towards them."""

from __future__ import annotations

from typing import List, Optional

from ..model import STILL_STARTING
from .forecast import Outlook, Slope, Trend, outlook
from .limits import Limit, Limits
from .process import Memory

_LEAST_SECONDS = 120.0  # of looking before a time is told: however often one looks, a start-up is no rate


class LimitsAhead:
    """Takes one look after another; says which limit is reached first, and when."""

    def __init__(self, limits: Optional[Limits] = None) -> None:
        self._limits = Limits() if limits is None else limits
        self.limits: List[Limit] = []  # as of the last look, the one with the least left first
        self._own = Trend()  # of this process: what can't be dropped and read again
        self._around = Trend()  # of its container, in which others may grow as well
        self._container: Optional[Limit] = None
        self._modules = 0
        self._began: Optional[float] = None  # when the program had started, as far as is known
        self._now = 0.0

    @property
    def off(self) -> List[str]:
        """What can't be read, and why."""
        return self._limits.off

    def now(self) -> List[Limit]:
        """What holds at this moment: for who asks between looks, or takes none."""
        return self._limits.read()

    def look(self, seconds: float, memory: Memory, modules: int) -> None:
        """Take one reading, at a time of any clock that only goes forward; `modules` that are imported."""
        self.limits = self._limits.read()
        self._now = seconds
        if self._began is None:
            self._began = seconds
        if modules - self._modules >= STILL_STARTING:
            self._own.forget()
            self._around.forget()
            self._began = seconds
        self._modules = modules
        if memory.own_bytes is not None:
            self._own.update(seconds, float(memory.own_bytes))
        container = next((limit for limit in self.limits if limit.is_of_container), None)
        if container is None:
            return
        if self._container is None or container[:2] != self._container[:2]:
            self._around.forget()  # another limit, another group
        self._container = container
        self._around.update(seconds, float(container.used_bytes))

    @property
    def _is_early(self) -> bool:
        return self._began is None or self._now - self._began < _LEAST_SECONDS

    @property
    def rise(self) -> Optional[Slope]:
        """How fast this process grows; None while it does not, or may still be starting."""
        return None if self._is_early else self._own.slope()

    def outlook(self) -> Optional[Outlook]:
        """The limit that is reached first; None while nothing goes on to grow."""
        if self._is_early:
            return None
        own, around = self._own.slope(), self._around.slope()
        found = [
            outlook(limit.name, limit.bytes, limit.left_bytes, around if limit.is_of_container else own)
            for limit in self.limits
        ]
        labelled = [one._replace(label=limit.label) for limit, one in zip(self.limits, found) if one is not None]
        return min(labelled, key=lambda one: one.seconds, default=None)
