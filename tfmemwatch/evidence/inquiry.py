"""Evidence for memory that nothing counted explains: taken for a short while, bounded, and at growing distances.

An inquiry opens the instruments, has them look as the schedule says, and asks the hypotheses in their order.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ..growth.suspicion import Suspicion
from ..growth.timeline import Timeline
from ..holders.steps import length_at
from ..memory.process import Memory
from ..model import Finding, Site
from . import doubts, schedule, still_growing
from .answers import SILENT, Accused, Answer, Filling, LookOn, finding_of
from .doubts import Doubts
from .evidence import NOTHING_HEAVY, Evidence, Pace, Reading
from .found import FoundByEvidence
from .hypotheses import EARLY, END, HYPOTHESES, WINDOW
from .schedule import LOOKS, MOST_QUIET, SOON_LOOKS, Schedule
from .sources import Sources
from .still_growing import StillGrowing
from .taking_evidence import Instruments

_MISSES = 2  # inquiries that must find nothing before what was found is over
_MOST = 0.5  # of what has grown: if collections that are told hold so much, the rest needs a name of its own
_WAIT_IF_EXPLAINED = 16  # looks, where a count has come to explain what grows
_SOON = 8  # looks after which an urgent one begins: by then it is known whether a count rises
_RISING = 27  # looks that memory has risen for when it is suspected
_HELD = 0.3  # of what memory is known to rise by: so much must a collection hold, to be its cause
_STILL = LOOKS  # looks without a suspicion, after which a rise is another one

Read = Callable[[], Memory]


class Haste(NamedTuple):
    """Memory is known to rise, and to end soon."""

    since: float
    pause_seconds: float  # between two looks
    bytes_a_look: float  # by which it rises
    is_too_late: Callable[[float, float, float], bool]  # since when, now, and for how many seconds more

    def is_urgent(self, since: Optional[float], now: float) -> bool:
        """Whether there is no time for one more short inquiry."""
        return since is not None and self.is_too_late(since, now, SOON_LOOKS * self.pause_seconds)

    def is_held(self, evidence: Evidence) -> bool:
        """Whether a collection holds it. In so short a while what is in use says little: our own room fills first."""
        least = _HELD * self.bytes_a_look * evidence.span
        return any(evidence.bytes_of(one) >= least for one in evidence.collections)


class Inquiry:
    """Waits until memory rises unexplained; then takes evidence, and says what the hypotheses found."""

    def __init__(self, sources: Sources, pace: Pace, per: str, haste: Optional[Haste] = None) -> None:
        self._per = per
        self._haste = haste
        self._times = Timeline()
        self._rising_since: Optional[float] = None
        self._by_clock = per != "step"
        self._instruments = Instruments(sources, pace, self._by_clock)
        self._schedule = Schedule(self._by_clock, LOOKS if haste is None else SOON_LOOKS)
        self._suspicion = Suspicion()
        self._bytes_a_look = pace.bytes_a_look
        self._doubts = Doubts()
        self._modules = 0
        self._looks = 0  # since the first one
        self._quiet = self._age = self._misses = 0
        self._took = 0  # looks until what was found was told
        self._found = FoundByEvidence()
        self._is_beside = False  # what is counted explains some of the growth, and was told
        self._has_an_end = False  # what grows, as this inquiry has seen
        self._filled_from: Dict[str, Reading] = {}
        self.filling = ""  # what it is, while it fills
        self.is_kept_back = False  # memory rises, and an inquiry would begin if no count rose with it
        self.heaviest: Tuple[Site, str] = NOTHING_HEAVY  # what left most in use in the last inquiry

    @property
    def findings(self) -> List[Finding]:
        """What was found, and is not over."""
        return self._found.findings

    @property
    def finding(self) -> Optional[Finding]:
        """The first of them."""
        return next(iter(self._found.findings), None)

    @property
    def is_open(self) -> bool:
        """Whether evidence is being taken."""
        return self._schedule.is_open

    @property
    def goes_on(self) -> bool:
        """Whether what was told has grown lately."""
        return self._quiet <= _STILL // 2 and self._found.goes_on

    def look(self, memory: Memory, unexplained: bool, now: float, read: Read, is_beside: bool = False) -> bool:
        """Take one reading; True when there is a finding, or one that there was is over.

        `is_beside`: counts explain some of the growth, and were told. Then only what has a name is looked for.
        """
        self._is_beside = is_beside
        held = float(memory.held_bytes or 0)
        self._instruments.memory.look(held)
        self._looks += 1
        self._times.add(now)
        self.is_kept_back = False
        is_over = self._found.look()
        if self.is_open:
            with self._ended_by_failure():
                return self._go_on(unexplained, now, read) or is_over
        self._wait(held, unexplained, now, read)
        return self._is_over() or is_over

    def begin(self, now: float, read: Read) -> None:
        """Begin to take evidence."""
        self.is_kept_back = False
        with self._ended_by_failure():
            self._schedule.open()
            self._has_an_end = False
            first = self._instruments.read_first(now, read)
            if self._by_clock or self._suspicion.is_confirmed(first.held, self._looks, self._bytes_a_look):
                self._instruments.open(first)
            else:
                self._end_without_finding()

    def put_off(self) -> None:
        """Something else explains what grows: ask again in a while."""
        self.is_kept_back = False
        self._schedule.wait(_WAIT_IF_EXPLAINED)

    def stop(self) -> None:
        """Let go of everything, whatever was under way."""
        self._instruments.close()
        self._schedule.close()
        self._suspicion.forget()

    # -- between two inquiries

    def _wait(self, held: float, unexplained: bool, now: float, read: Read) -> None:
        """Begin where memory seems to rise, and nothing counted explains it."""
        may_begin = self._schedule.rest()
        self._quiet += 1
        self._age += 1
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._suspicion.forget()  # a program that still imports is still starting
        is_soon = self._haste is not None and self._looks == _SOON
        if not self._suspicion.rises(held) and not is_soon:
            if self._quiet > _STILL:
                self._rising_since = None
            return
        self._quiet = 0
        if self._rising_since is None:
            soon = self._haste if is_soon else None
            self._rising_since = self._times.at(self._looks - _RISING) if soon is None else soon.since
        if may_begin and not self._instruments.operations.is_open:
            self.is_kept_back = not unexplained
            if unexplained:
                self.begin(now, read)

    def _is_over(self) -> bool:
        """Whether what was told is over, since memory has not risen for long."""
        if self._schedule.is_quiet(self._quiet, 0):
            self.filling = ""
        return self._schedule.is_quiet(self._quiet, self._age) and self._forget_unmeasured()

    def _forget_unmeasured(self) -> bool:
        self._misses = 0
        return self._found.forget_unmeasured()

    # -- in an inquiry

    @contextmanager
    def _ended_by_failure(self) -> Iterator[None]:
        """A failure of ours ends the inquiry: one that is half begun, or half done, would fail at each look."""
        try:
            yield
        except Exception:
            self._end_without_finding()
            raise

    def _go_on(self, unexplained: bool, now: float, read: Read) -> bool:
        self._schedule.next_look()
        self._instruments.collections.look()
        if not unexplained:
            self._schedule.wait(_WAIT_IF_EXPLAINED)
            self.stop()
            return False
        return any(self._do(task, now, read) for task in self._schedule.due())

    def _do(self, task: str, now: float, read: Read) -> bool:
        """What is due; True where there is a finding, or the one there was is over."""
        instruments, looks = self._instruments, self._schedule.looks
        if task == schedule.FIND:
            instruments.collections.find(looks)
        elif task == schedule.MORE_TIME:
            if instruments.sees_little():
                self._schedule.widen()
        elif task == schedule.HALF:
            instruments.halve_window()
        elif task == schedule.WINDOW:
            instruments.end_window()
            return self._ask(WINDOW, self._seen(now, read))
        elif task == schedule.EMPTY:
            instruments.caches.look()
        elif task == schedule.MIDDLE:
            instruments.read_middle(looks, now, read)
        elif task == schedule.EARLY:
            evidence = self._seen(now, read)
            return evidence.is_material(evidence.grown) and self._ask(EARLY, evidence)
        else:
            return self._conclude(self._seen(now, read))
        return False

    def _seen(self, now: float, read: Read) -> Evidence:
        self._instruments.read_last(self._schedule.looks, now, read)
        evidence = self._instruments.evidence(self._schedule, dict(self._filled_from))
        self.heaviest = evidence.heaviest
        known = frozenset(self._found.collections)
        told = sum(evidence.bytes_of(one) for one in evidence.collections if one.id in known)
        is_urgent = self._haste is not None and self._haste.is_urgent(self._rising_since, now)
        is_beside = self._is_beside or (bool(known) and told >= _MOST * evidence.grown)
        return evidence._replace(
            has_an_end=self._has_an_end, is_beside=is_beside, known_collections=known, is_urgent=is_urgent
        )

    def _conclude(self, evidence: Evidence) -> bool:
        """All looks are taken: ask, and end the inquiry or look on."""
        is_held = self._haste is not None and self._haste.is_held(evidence)
        if not evidence.is_material(evidence.grown) and not is_held:
            return self._end_without_finding()
        if self._ask(END, evidence):
            return True
        return self.is_open and self._schedule.looks >= self._schedule.lasts and self._end_without_finding()

    def _ask(self, when: str, evidence: Evidence) -> bool:
        """Ask the hypotheses in turn until one accuses, or wants to see more."""
        self._doubts.begin_round()
        if when == END and evidence.is_steady:
            self.filling = ""
        for hypothesis in HYPOTHESES:
            if hypothesis.when != when or (evidence.is_beside and not hypothesis.sees_its_own):
                continue
            answer: Answer = hypothesis.ask(evidence)
            if isinstance(answer, Filling):
                self._filled_from.setdefault(hypothesis.name, evidence.first)
                self._has_an_end = True
                evidence = evidence._replace(has_an_end=True)
                self.filling = self.filling or answer.what
            elif isinstance(answer, LookOn):
                self._look_on(answer)
                return False
            elif answer is not None and self._tell(answer, evidence):
                return True
        return False

    def _look_on(self, answer: LookOn) -> None:
        self._instruments.halve(answer.leaves_first_half)
        span = self._schedule.looks - self._instruments.first_look
        self._schedule.look_on(int(answer.share * span), answer.leaves_first_half)

    def _tell(self, accused: Accused, evidence: Evidence) -> bool:
        """Make it the finding, unless it is doubted; the one place where a verdict is decided."""
        becomes = self._doubts.first_time(accused)
        if becomes == SILENT:
            return False
        self._age = self._misses = 0
        finding = finding_of(accused, evidence, doubts.is_sure(becomes), self._per)
        if self._by_clock and self._rising_since is not None:
            finding = finding._replace(since=min(self._rising_since, finding.since))
        if not self._found.knows(finding):
            self._took = self._looks
        way = accused.collection
        self._found.add(finding, self._counted_on(accused, evidence), way.steps[-1] if way is not None else 0)
        self._schedule.wait_after_finding()
        self.stop()
        return True

    def _counted_on(self, accused: Accused, evidence: Evidence) -> Optional[StillGrowing]:
        """How it is known that it goes on; by the clock a program may rest, so that more looks must pass."""
        looks = MOST_QUIET if self._by_clock else min(self._took, MOST_QUIET)
        way, instruments = accused.collection, self._instruments
        if way is not None:
            return still_growing.of_items(min(looks, max(LOOKS, evidence.looks)), lambda: length_at(way))
        if accused.is_of_tensors:
            return still_growing.of_tensors(looks, instruments.tensors.look, accused.number)
        if self._by_clock or accused.is_in_jumps:
            return None
        own = accused.bytes if accused.own_bytes is None else accused.own_bytes
        a_look = min(own / max(1, evidence.span), 2 * evidence.pace.bytes_a_look)  # a start may have come with it
        return still_growing.of_bytes(looks, instruments.memory.latest, a_look)

    def _end_without_finding(self) -> bool:
        """End this inquiry; the next one waits longer. Whether what was found before is over."""
        self._misses += self._found.has_unmeasured
        is_over = self._misses >= _MISSES and self._forget_unmeasured()
        self._schedule.wait_longer()
        self.stop()
        return is_over
