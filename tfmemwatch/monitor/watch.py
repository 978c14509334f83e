"""The watch of a process, or of a block: what puts the parts together, starts and stops them, and has them look."""

from __future__ import annotations

import sys
import time
import weakref
from typing import Any, Callable, List, Optional, Sequence

from ..config import Config
from ..evidence.evidence import Pace
from ..growth.rules import Rule
from ..heap.room import room
from ..holders.expected_dead import Expectations
from ..model import Finding
from ..reports import Report
from ..safety import exit_gate, forks, guard
from ..safety.turn import Turn
from ..seams import runtime
from .answers import Answers, Seen
from .by_clock import BETWEEN, WHOLE, ByClock
from .control_socket import ControlSocket
from .detector import Detector
from .explaining import Explanations
from .readings import Readings
from .sampler import STOP_SECONDS, Sampler
from .snapshot import Snapshot
from .state import State
from .telling import News, Telling
from .to_others import to_others

_AHEAD_SECONDS = 1.0  # between two readings of the limits

begun: List[Watch] = []  # of this process: those that have begun to start and are not put back to the end


class Watch:
    """Wraps TensorFlow, counts, looks at regular times, and tells what leaks."""

    def __init__(self, config: Config, clock: Callable[[], float] = time.monotonic) -> None:
        state = self.state = State(config)
        self._clock = clock
        self.config, self.process, self.ledger, self.scene = config, state.process, state.ledger, state.scene
        self.probes, self.off = state.probes.up, state.probes.off
        self.explanations = Explanations(state)
        self.telling = Telling(state, self.explanations)
        self.answers = Answers(state, self.explanations, self._seen, lambda: self._detector.findings)
        self.control_socket = ControlSocket(config.door, to_others(self.answers, state.process))
        self.expectations = Expectations(config.collect)
        self.tensorflow_before_fork = False
        self.after_look: List[Callable[[], None]] = []  # called on the watch's thread, when it has looked
        self.on_wake: List[Callable[[], None]] = []  # called there, in between, some times a second at most
        self._sampler: Optional[Sampler] = None
        self._user: Optional[Callable[[], Any]] = None  # the block whose watch this is
        self._begin()

    def _begin(self) -> None:
        self._looking = Turn()  # to look; nobody waits for it
        self._ahead_at = 0.0  # when the limits are read again
        self._readings = Readings(self.state, self.explanations.explained)
        self._detector = ByClock(self._readings, self.state.stake)
        self._began = self._clock()

    def detector(
        self, rule: Rule, pace: Pace, per: str, asked: bool = False, affords: Callable[[], bool] = lambda: True
    ) -> Detector:
        """One way of looking at what this watch sees."""
        return Detector(self._readings, rule, pace, per, asked=asked, affords=affords)

    # -- starting and stopping

    def start(self, sampling: bool = True) -> None:
        """Wrap what is there, or wait for TensorFlow to be imported; begin to look.

        What is to be put back is written down before it is done, so that `stop()` can, wherever this was interrupted.
        """
        self.state.is_running = True  # before it is among those begun: one that does not run is taken for forsaken
        if not any(one is self for one in begun):
            begun.append(self)
        self.state.operations.is_over = False
        forks.in_child(self._start_afresh)
        exit_gate.wait_at_exit()
        self.process.open()
        self.state.probes.install()
        if not self.state.probes.is_installed:
            guard.logger.info("tfmemwatch waits for TensorFlow to be imported")
        if sampling:
            self._sample()

    def _sample(self) -> None:
        self.control_socket.open()
        self._sampler = Sampler(self.wake, lambda: self._detector.pause(self._clock() - self._began))
        self._sampler.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Put everything back; what is already counted can still be read. Again, if it was interrupted.

        For a look that is under way, or stuck in a callback, it waits so long; that one then tells and wraps no more.
        """
        state = self.state
        state.is_running = False
        self.stop_sampling(seconds)
        state.probes.listen_no_more()
        forks.no_longer(self._start_afresh)
        self._detector.stop()
        state.operations.is_over = True
        state.operations.close()
        state.probes.uninstall()
        self.process.close()
        self.control_socket.close()
        begun[:] = [one for one in begun if one is not self]
        if not begun:
            exit_gate.wait_no_more()
        room.below(None)  # what was left below the limit is not looked at any more

    def stop_sampling(self, seconds: float = STOP_SECONDS) -> None:
        """End the thread: someone else, a block with steps, looks from now on."""
        sampler = self._sampler
        if sampler is not None:
            sampler.stop(seconds)
            self._sampler = None

    def used_by(self, block: Any, is_over: Callable[[Any], bool]) -> None:
        """This is the watch of a block alone: it is forsaken once that is over or has gone."""
        ref = weakref.ref(block)
        self._user = lambda: is_over(ref())

    @property
    def is_forsaken(self) -> bool:
        """Whether an interrupt has kept it from being stopped."""
        return not self.is_running or (self._user is not None and bool(self._user()))

    @property
    def is_running(self) -> bool:
        """Whether it watches."""
        return self.state.is_running

    def _start_afresh(self) -> None:
        """In the child of a fork: empty, with new locks, and a thread of its own."""
        state = self.state
        state.probes.make_turns()
        self._looking = Turn()
        if not self.is_running:  # another thread was at putting it back
            self.stop(0)
            return
        self.tensorflow_before_fork = bool(runtime.is_used())
        sampling = self._sampler is not None
        self.expectations.start_afresh()
        self.explanations.forget()
        self.telling.forget()
        state.start_afresh()
        self._begin()
        state.probes.finish()
        if self.tensorflow_before_fork:
            guard.logger.warning(
                "this process was forked after TensorFlow had been used; TensorFlow may hang in it. "
                "Fork before using TensorFlow, or use multiprocessing's 'spawn'."
            )
        if sampling:
            self._sample()

    # -- looking

    @property
    def level(self) -> str:
        """How closely it looks now."""
        return self.state.level.name

    def set_level(self, level: str) -> None:
        """Look more or less closely from now on."""
        self.state.level.set(level)

    def wake(self) -> None:
        """Look, at everything or at what may leak, if it is time to; else see whether memory rises fast."""
        state, now = self.state, self._clock()
        _call(self.on_wake if state.is_running else ())
        own_bytes = self.process.read_resident().own_bytes if state.is_running and self.scene.rank else None
        due = self._detector.due(now - self._began, own_bytes)
        if due == WHOLE or (due == BETWEEN and state.looks_allowed.has_some(now)):
            self.look(due == WHOLE)

    def look(self, is_whole: bool = True) -> None:
        """One look at everything, and all that follows from it; nothing where one is under way.

        What is to be told is told when the look is over: a callback or a handler of the log may take its time. Between
        two such looks there may be others, only at what may leak.
        """
        state, began = self.state, time.thread_time()
        evidence = state.evidence_seconds
        news: List[News] = []
        if not self._looking.take(lambda: news.extend(self._look(is_whole)), 0):
            return
        if is_whole and state.is_running:
            self.control_socket.look()
        self.telling.tell(news)
        if is_whole:
            self._follow_look()
        spent = time.thread_time() - began
        state.own_seconds += spent
        if not is_whole:
            state.looks_took(spent - (state.evidence_seconds - evidence))
        elif state.is_running:
            state.keep_to_budget(time.monotonic())
            self._detector.longest_seconds = state.pause.seconds

    def _follow_look(self) -> None:
        if self.state.is_running and self.scene.rank:
            self.telling.tell_left(self.answers.look_at_models())
        _call(self.after_look if self.state.is_running else ())

    def _look(self, is_whole: bool) -> List[News]:
        """What is to be told."""
        state, now = self.state, self._clock() - self._began
        if not state.is_running:
            return []
        if not is_whole:
            self._look_ahead()
            return list(self._detector.look_between(now))
        state.probes.imported()
        passed, state.looked_at = time.time() - (state.looked_at or state.began), time.time()
        if not self.scene.rank:
            self.ledger.read()  # what was born before still dies
            return []
        state.looks += 1
        state.watched_seconds += passed
        self._look_ahead()
        found = self._detector.look(now)
        state.moments.look(state.looked_at - state.began, self.process.read, lambda: self.ledger.latest)
        expected = self.expectations.look()
        return [*found, *expected.gone, *expected.late, *self.explanations.news()]

    def _look_ahead(self) -> None:
        """Limits are read from a dozen files: once a second, more often only while what is left decides."""
        now = self._clock()
        if now < self._ahead_at:
            return
        self._ahead_at = now + min(_AHEAD_SECONDS, self._detector.stake_seconds)
        try:
            memory, state = self.process.read(), self.state
            state.ahead.look(now, memory, len(sys.modules))
            state.stake.look(now - self._began, memory.own_bytes, state.ahead.limits)
        except Exception:
            guard.failed("limits")

    # -- what one can ask; the rest is in `answers`

    def _seen(self) -> Seen:
        detector, state = self._detector, self.state
        looked = detector.looked(state.watched_seconds)
        return Seen(tuple(detector.findings), detector.verdict, state.moments.kept, looked)

    def findings(self) -> List[Finding]:
        """What leaks now."""
        return self.answers.findings()

    def snapshot(self, owners: bool = False) -> Snapshot:
        """Everything that is counted, at this moment; with whose bytes these are, if that is asked for."""
        return self.answers.snapshot(owners)

    def report(self) -> Report:
        """Everything that is known, at this moment."""
        return self.answers.report()


def _call(listeners: Sequence[Callable[[], None]]) -> None:
    for listener in list(listeners):
        try:
            listener()
        except Exception:
            guard.failed("after a look")
