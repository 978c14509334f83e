"""A suspect piece of a program under watch: `with tfmemwatch.watch("epoch") as block:`."""

from __future__ import annotations

import functools
import gc
import inspect
import time
from typing import Any, Callable, Dict, List, Optional

from . import guard
from .account import Account
from .errors import LeakFound
from .examiner import Examiner
from .growth import COUNT_STEPS
from .inquiry import Pace
from .model import Finding, Key, Tally, count_of
from .monitor import Watch
from .outputs import text

_STEP_PACE = Pace(bytes_a_look=1000, bytes_in_all=96 * 1024, first_half=0.62)

# What `assert_clean` counts: the word one allows it by, and the kinds behind it.
COUNTED = {
    "variables": ("variable", "graph_variable"),
    "sessions": ("session",),
    "graphs": ("graph",),
    "operations": ("graph_op",),
    "functions": ("function_graph",),
    "retraces": ("retrace",),
    "models": ("model",),
    "iterators": ("iterator",),
    "tapes": ("tape",),
    "pyfuncs": ("pyfunc",),
    "writers": ("writer",),
}


class Block:
    """Counts what a piece of the program makes and leaves; with `step()`, judges growth for each step exactly."""

    def __init__(self, name: str, watch: Callable[[], Watch], owners: bool = False) -> None:
        self.name = name
        self._owners = owners
        self._find_watch = watch
        self._watch: Optional[Watch] = None
        self._is_own = False
        self.steps = 0

    # -- as a context manager, in all its forms

    def __enter__(self) -> Block:
        watch = self._watch = self._find_watch()
        self._is_own = not watch.is_running
        if self._is_own:
            watch.start()
        self.steps = 0
        self._examiner = Examiner(watch, COUNT_STEPS, _STEP_PACE, "step")
        self._memory = self._after_memory = watch.memory()
        self._before: Dict[Key, Tally] = watch.read()
        self._after: Dict[Key, Tally] = {}
        self._examiner.begin(self._before)
        self._account_before = self._account(self._before)
        self._account_after: Optional[Account] = None
        self._began = time.monotonic()
        self._seconds: Optional[float] = None
        return self

    def __exit__(self, *error: Any) -> None:
        watch = self._running()
        self._seconds = time.monotonic() - self._began
        try:
            self._end(watch)
        except Exception:
            guard.failed("block: end")
        finally:
            if self._is_own:
                watch.stop()

    def _end(self, watch: Watch) -> None:
        if self.steps:
            watch.tell(self._examiner.sum_up(ending=True))
        self._examiner.stop()
        if watch.config.collect:
            gc.collect()
        self._after = watch.read()
        self._after_memory = watch.memory()
        self._account_after = self._account(self._after)

    async def __aenter__(self) -> Block:
        return self.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self.__exit__(*error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator: each call is a block of its own."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def watched_coroutine(*args: Any, **kwargs: Any) -> Any:
                with Block(self.name, self._find_watch, self._owners):
                    return await function(*args, **kwargs)

            return watched_coroutine

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            with Block(self.name, self._find_watch, self._owners):
                return function(*args, **kwargs)

        return watched

    # -- while it runs

    def step(self) -> None:
        """Mark the end of one iteration of the suspect loop."""
        watch = self._running()
        if not self.steps and self._is_own:
            watch.stop_sampling()
        self.steps += 1
        if not watch.scene.rank:
            return
        try:
            watch.tell(self._examiner.look(self.steps))
            watch.tell(watch.news())
        except Exception:
            guard.failed("block: step")

    def _running(self) -> Watch:
        if self._watch is None:
            raise RuntimeError("the block %r has not been entered" % self.name)
        return self._watch

    # -- what one can ask

    @property
    def findings(self) -> List[Finding]:
        """What leaks in this block."""
        return self._examiner.findings if self.steps else self._running().findings()

    def report(self) -> str:
        """What was made, freed and is still alive, by line; traces, sessions, memory."""
        watch = self._running()
        after = self._after or watch.read()
        seconds = self._seconds if self._seconds is not None else time.monotonic() - self._began
        title = "%s: %s%.3g s" % (
            self.name,
            "%s steps, " % count_of(self.steps) if self.steps else "",
            seconds,
        )
        memory = self._after_memory if self._after else watch.memory()
        return text.render(title, self.findings, self._before, after, (self._memory, memory), watch.off,
                           self._examiner.verdict, (self._account_before, self._account_after or self._account(after)),
                           text.future(None, watch.outlook(), watch.rise()), watch.living())  # fmt: skip

    def _account(self, tallies: Dict[Key, Tally]) -> Account:
        watch = self._running()
        return watch.account() if self._owners else watch.light_account(tallies)

    def assert_clean(self, **allowances: int) -> None:
        """LeakFound if something leaks, or more was left behind than is allowed: `assert_clean(variables=4)`."""
        unknown = set(allowances) - set(COUNTED)
        if unknown:
            raise TypeError("%s can't be allowed; there are %s" % (", ".join(sorted(unknown)), ", ".join(COUNTED)))
        complaints = [str(finding) for finding in self.findings]
        for word, kinds in COUNTED.items():
            left = self._left(kinds)
            if sum(left.values()) > allowances.get(word, 0):
                complaints.append(_complaint(word, left))
        if complaints:
            raise LeakFound("%s is not clean:\n  %s" % (self.name, "\n  ".join(complaints)))

    def _left(self, kinds: Any) -> Dict[Key, int]:
        """What the block made and did not free, by line."""
        if not self._after:
            gc.collect()
        after = self._after or self._running().read()
        left = {}
        for key, tally in after.items():
            old = self._before.get(key)
            more = tally.alive - (old.alive if old is not None else 0)
            if key.kind in kinds and more > 0:
                left[key] = more
        return left


def _complaint(word: str, left: Dict[Key, int]) -> str:
    total = sum(left.values())
    lines = ", ".join("%s (%d)" % (key.site.short, more) for key, more in sorted(left.items(), key=lambda row: -row[1]))
    return "%d %s left behind: %s; allow them with %s=%d" % (total, word, lines[:600], word, total)
