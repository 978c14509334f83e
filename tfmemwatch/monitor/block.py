"""A suspect piece of a program under watch: `with tfmemwatch.watch("epoch") as block:`."""

from __future__ import annotations

import gc
import sys
import time
from typing import Any, Callable, List, Mapping, Optional

from ..errors import LeakFound, Unavailable
from ..evidence.evidence import Pace
from ..growth.history import History
from ..growth.rules import COUNT_STEPS
from ..heap import collector
from ..ledger import site
from ..memory.account import Account
from ..model import Finding, Key, Site, Tally
from ..reports import Report
from ..safety import guard
from ..units import count_of
from . import left_behind
from .answers import Counted, Seen
from .budget import StepAllowance
from .decorated import Decorating
from .kept import Filling, Kept, KeptCount
from .moments import Moments
from .watch import Watch

_STEP_PACE = Pace(bytes_a_look=1000, bytes_in_all=96 * 1024, first_half=0.62)


class Block(Decorating):
    """Counts what a piece of the program makes and leaves behind; with `step()`, judges growth by step, exactly."""

    def __init__(self, name: str, watch: Callable[[], Watch], owners: bool = False, warmup: int = 0) -> None:
        self.name = name
        self._owners = owners
        self._find_watch = watch
        self._warmup = warmup
        self.is_asked = True  # somebody waits for it; else evidence keeps to its budget, and nothing kept is counted
        self.at: Optional[Site] = None  # where it is, if not where it is entered
        self._watch: Optional[Watch] = None
        self._is_own = self._is_over = False
        self.steps = 0

    # -- as a context manager, in all its forms

    def __enter__(self) -> Block:
        self._is_over = False
        self._at = self.at or site.here(sys._getframe(1))
        watch = self._watch = self._find_watch()
        self._is_own = not watch.is_running
        if not self._is_own:
            return self._begin(watch)
        watch.used_by(self, lambda block: block is None or block._is_over)
        try:
            watch.start()
            return self._begin(watch)
        except BaseException:  # there will be no __exit__
            self._is_over = True
            watch.stop()
            raise

    def _begin(self, watch: Watch) -> Block:
        self.steps = 0
        self._seconds: Optional[float] = None
        self._after: Optional[Counted] = None
        self._count_from_now(watch)
        return self

    def _count_from_now(self, watch: Watch) -> None:
        """What is there now is where all is counted from: at the beginning, or after the warm-up."""
        if watch.config.collect and not self.is_warming_up:
            collector.collect(asked=True)  # garbage that goes later would hide what is left behind
        allowance = self._allowance = StepAllowance(watch.config.max_overhead)
        self._detector = watch.detector(
            COUNT_STEPS, _STEP_PACE, "step", asked=self.is_asked, affords=lambda: allowance.seconds > 0
        )
        self._moments = Moments(History(120))
        self._counting = None if self.is_warming_up or not self.is_asked else KeptCount(watch, self._at)
        self.kept: Optional[List[Kept]] = None  # by collections, of this block: known when it is over
        memory, tallies = watch.process.read(), watch.state.read()
        self._detector.count_from(tallies)
        if self._counting is not None:
            self._detector.steps.begin(self._at, self._counting.at_first)
        self._before = Counted(tallies, memory, self._account(tallies))
        self._began = time.monotonic()

    @property
    def is_warming_up(self) -> bool:
        """Whether what happens now is not counted."""
        return self.steps < self._warmup

    @property
    def _counted_steps(self) -> int:
        return max(0, self.steps - self._warmup)

    @property
    def _left_out(self) -> str:
        """What could not be counted, and why."""
        return self._counting.left_out if self._counting is not None else ""

    def _count_kept(self) -> List[Kept]:
        """What collections keep of this block."""
        return self._counting.now(self._counted_steps) if self._counting is not None else []

    def filling(self) -> List[Filling]:
        """Collections with a bound that it has filled some more, and that are not full."""
        return self._counting.filling() if self._counting is not None else []

    def __exit__(self, *error: Any) -> None:
        self._is_over = True
        watch = self.running()
        try:
            self._seconds = time.monotonic() - self._began
            self._end(watch)
        except Exception:
            guard.failed("block: end")
        finally:
            if self._is_own:
                watch.stop()

    def _end(self, watch: Watch) -> None:
        if self.steps:
            watch.telling.tell(self._detector.sum_up(ending=True))
        self._detector.stop()
        if watch.config.collect:
            gc.collect()
        self._after = self._counted()
        self.kept = self._count_kept()

    async def __aenter__(self) -> Block:
        return self.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self.__exit__(*error)

    def anew(self, name: str) -> Block:
        """A block like this one, which has not begun."""
        return Block(name, self._find_watch, self._owners, self._warmup)

    @property
    def is_open(self) -> bool:
        """Whether it has begun, is not over, and its watch runs."""
        return self._watch is not None and self._watch.is_running and not self._is_over

    def abandon(self) -> None:
        """Be over, and tell nothing more: its watch is about to be stopped."""
        self._is_over = True
        self._detector.stop()

    # -- while it runs

    def step(self) -> None:
        """Mark the end of one iteration of the suspect loop."""
        watch = self.running()
        if not self.steps and self._is_own:
            watch.stop_sampling()
        self.steps += 1
        if not watch.scene.rank:
            return
        began = time.thread_time()
        try:
            if self.steps <= self._warmup:
                self._warm_up(watch)
                return
            lengths = None
            if self._counting is not None:
                lengths = self._counting.look(self._counted_steps, self._allowance.seconds)
            if lengths is not None:
                self._detector.steps.measured(self.steps, lengths)
            watch.telling.tell(self._detector.look(self.steps))
            watch.telling.tell(watch.explanations.news())
            memory = self._detector.memory
            self._moments.look(self.steps, lambda: memory or watch.process.read(), watch.ledger.read)
        except Exception:
            guard.failed("block: step")
        self._allowance.took(time.monotonic(), time.thread_time() - began)

    def _warm_up(self, watch: Watch) -> None:
        if not self.is_warming_up:
            self._detector.stop()
            self._count_from_now(watch)

    def running(self) -> Watch:
        """Its watch, which has begun."""
        if self._watch is None:
            raise RuntimeError("the block %r has not been entered" % self.name)
        return self._watch

    # -- what one can ask

    @property
    def findings(self) -> List[Finding]:
        """What leaks in this block."""
        return self._detector.findings if self.steps else self.running().findings()

    def report(self) -> Report:
        """What was made, freed and is still alive, by line; traces, sessions, memory."""
        watch = self.running()
        seconds = self._seconds if self._seconds is not None else time.monotonic() - self._began
        steps = "%s steps, " % count_of(self.steps) if self.steps else ""
        title = "%s: %s%.3g s" % (self.name, steps, seconds)
        if self._left_out:
            title += " (%s)" % self._left_out
        moments = self._moments.kept if self.steps else watch.state.moments.kept
        after = self._after or self._counted()
        left = left_behind.said(self._before.tallies, after.tallies, self.kept or ())
        looked = self._detector.looked(seconds)._replace(left=left, not_counted=self._left_out)
        seen = Seen(tuple(self.findings), self._detector.verdict, moments, looked)
        return watch.answers.of_block(title, self._before, after, seen, in_steps=bool(self.steps))

    def _counted(self) -> Counted:
        watch = self.running()
        tallies = watch.state.read()
        return Counted(tallies, watch.process.read(), self._account(tallies))

    def _account(self, tallies: Mapping[Key, Tally]) -> Account:
        answers = self.running().answers
        return answers.account() if self._owners else answers.light_account(tallies, asked=True)

    def assert_clean(self, **allowances: int) -> None:
        """Raise LeakFound if something leaks, or more is left behind than is allowed: `assert_clean(variables=4)`.

        What was filled in the steps, and stands still for longer than that took, is not left behind; nor is what a
        collection with a bound holds.
        """
        __tracebackhide__ = True  # pytest shows the test's own line
        left_behind.check(allowances)
        watch = self.running()
        if self._warmup and self.steps <= self._warmup:
            raise Unavailable("%s: nothing was counted: of its %d steps all are warm-up" % (self.name, self.steps))
        if self._after is None:
            gc.collect()
        after = self._after.tallies if self._after is not None else watch.state.read()
        held = self.kept if self.kept is not None else self._count_kept()
        filled = self._detector.judge.filled()
        after = {key: tally for key, tally in after.items() if key not in filled}
        held_in_bounds = self._detector.in_bounds.held(left_behind.left_of(self._before.tallies, after))
        after = {key: tally for key, tally in after.items() if key not in held_in_bounds}
        complaints = left_behind.complaints(self.findings, self._before.tallies, after, held, allowances)
        if self._left_out:
            guard.logger.warning("%s: %s", self.name, self._left_out)
        if complaints:
            raise LeakFound("%s is not clean:\n  %s" % (self.name, "\n  ".join(complaints)))
