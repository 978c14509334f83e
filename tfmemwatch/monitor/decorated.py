"""A function under watch: all of its calls are one block, and each of them is a step."""

from __future__ import annotations

import functools
import inspect
import weakref
from abc import ABC, abstractmethod
from typing import Any, Callable, List, TypeVar

from ..model import Finding
from ..reports import Report
from ..safety import guard
from ..safety.tracebacks import without_us
from ..safety.turn import Turn
from .watch import begun

Function = TypeVar("Function", bound=Callable[..., Any])
NAMELESS = "block"  # what a block is called that nobody has named
NAMES = ("findings", "report", "assert_clean")  # that a decorated function has

_all: weakref.WeakSet[Calls] = weakref.WeakSet()  # that have begun


class Decorating(ABC):
    """What a block must have to be a decorator."""

    name: str

    def __call__(self, function: Function) -> Function:
        """As a decorator: all calls of the function are one block, and each is a step of it."""
        name = getattr(function, "__qualname__", self.name) if self.name == NAMELESS else self.name
        watched: Function = _wrapped(function, Calls(self.anew(name)))
        return watched

    @abstractmethod
    def anew(self, name: str) -> Decorating:
        """A block like this one, which has not begun."""

    @abstractmethod
    def __enter__(self) -> Decorating:
        """Begin."""

    @abstractmethod
    def step(self) -> None:
        """One call is over."""

    @abstractmethod
    def abandon(self) -> None:
        """Be over, and tell nothing more: its watch is about to be stopped."""

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether it has begun, is not over, and its watch runs."""

    @property
    @abstractmethod
    def findings(self) -> List[Finding]:
        """What leaks in this block."""

    @abstractmethod
    def report(self) -> Report:
        """What was made, freed and is still alive."""

    @abstractmethod
    def assert_clean(self, **allowances: int) -> None:
        """Raise LeakFound if something leaks."""


class Calls:
    """All calls of one function. The block begins with the first one, and is over when everything is uninstalled.

    After that the function is only called, until something is installed again.
    """

    def __init__(self, block: Decorating) -> None:
        self.block = block
        self._turn = Turn()
        self._is_ended = False
        self.findings: List[Finding] = []

    def begin(self) -> None:
        """A call begins."""
        if not self.block.is_open and not (self._is_ended and not begun):
            self._turn.take(self._enter, 0)

    def _enter(self) -> None:
        if self.block.is_open:  # since another thread has begun it
            return
        try:
            self._is_ended = False
            _all.add(self)
            self.block.__enter__()
        except Exception:
            self._is_ended = True
            guard.failed("decorated: begin")

    def end(self, watched: Any) -> None:
        """A call is over. Of two that end at the same time one is a step."""
        if self.block.is_open:
            self._turn.take(lambda: self._step(watched), 0)

    def _step(self, watched: Any) -> None:
        try:
            self.block.step()
            watched.findings = self.block.findings
        except Exception:
            guard.failed("decorated: step")

    def abandon(self) -> None:
        """Everything is uninstalled."""
        self._is_ended = True
        if self.block.is_open:
            self.block.abandon()


# AutoGraph's own mark for what it may call as it is.
Calls.begin.autograph_info__ = Calls.end.autograph_info__ = {}  # type: ignore[attr-defined]


def abandon_all() -> None:
    """The blocks of all decorated functions are over; what they know can still be asked for."""
    for one in list(_all):
        one.abandon()


def _wrapped(function: Any, calls: Calls) -> Any:
    """A plain function in the place of another, of the same kind: nobody sees the difference."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def watched(*args: Any, **kwargs: Any) -> Any:
            calls.begin()
            try:
                return await function(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise
            finally:
                calls.end(watched)

    elif inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            calls.begin()
            try:
                return (yield from function(*args, **kwargs))
            except BaseException as error:
                without_us(error)
                raise
            finally:
                calls.end(watched)

    else:

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            calls.begin()
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise
            finally:
                calls.end(watched)

    watched.findings = []  # type: ignore[attr-defined]
    watched.report = calls.block.report  # type: ignore[attr-defined]
    watched.assert_clean = calls.block.assert_clean  # type: ignore[attr-defined]
    return watched
