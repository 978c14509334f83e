"""A test's function that repeats its body under watch: plain functions and coroutines, in place of each other."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

from ..model import Site
from .check import Check
from .limits import Limits

__unittest = True  # unittest shows no frames of this module

MARK = "_tfmemwatch_repeats"  # on a function that does it already


def repeated(function: Callable[..., Any], name: str, limits: Limits) -> Callable[..., Any]:
    """The same function, whose body runs `warmup` and `repeat` times; raises LeakFound where it leaks."""
    times = limits.warmup + limits.repeat

    def check() -> Check:
        return Check(name, limits, _place_of(function), limits.repeat)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def again(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            with check() as checked:
                for _ in range(times):
                    await function(*args, **kwargs)
                    checked.step()

    else:

        @functools.wraps(function)
        def again(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            result = None
            with check() as checked:
                for _ in range(times):
                    result = function(*args, **kwargs)
                    checked.step()
            return result  # pytest has something to say of tests that return something

    setattr(again, MARK, True)
    return again


def _place_of(function: Any) -> Optional[Site]:
    """Where the test stands."""
    code: Any = getattr(inspect.unwrap(function), "__code__", None)
    return Site(code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None
