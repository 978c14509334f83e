"""The leak detector: looks at counts and memory again and again, by the clock or by the steps of a block."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from typing import Callable, FrozenSet, Iterable, List, Mapping, Optional

from ..evidence.background import Background
from ..evidence.call_growth import CallGrowth
from ..evidence.evidence import Pace
from ..evidence.hypotheses import WITHOUT_INQUIRY
from ..evidence.inquiry import Haste, Inquiry
from ..evidence.sources import Sources
from ..growth.memory_verdict import MemoryVerdict, Verdict
from ..growth.rules import Rule
from ..growth.suspicion import LOOKS_OF_FLOOR
from ..headline import Looked
from ..heap import collector
from ..heap.instances import ids_alive
from ..heap.room import heap_size
from ..judge.judge import Draft, Judge
from ..judge.measured import MeasuredBytes
from ..judge.open_findings import OpenFindings
from ..ledger.counts import Ledger
from ..memory.process import Memory
from ..model import STILL_STARTING, UNKNOWN, Finding, Key, Site, Tally
from ..seams import places
from .garbage import ByteDoubts, GarbageDoubts
from .held_in_bounds import HeldInBounds
from .kept_lines import KeptLines
from .readings import Readings
from .step_counts import StepCounts
from .what_keeps import WhatKeeps

_REFRESH = 16  # looks after which the numbers of open findings are brought up to date
_HELD_BY = {"graph_op": "graph", "fetch": "session", "pyfunc_token": "graph"}  # whose end takes these away
_ALL = 1 << 20  # of what lives at a line


class Detector:
    """One way of looking: the judge of counts, the evidence, and which findings are open."""

    def __init__(
        self, readings: Readings, rule: Rule, pace: Pace, per: str, samples_per_day: Optional[int] = None,
        haste: Optional[Haste] = None, asked: bool = False, affords: Callable[[], bool] = lambda: True,
    ) -> None:  # fmt: skip
        self._readings = readings
        self._is_asked = asked  # whether somebody waits for each look, and has asked for its collections
        self._affords = affords if asked else readings.can_afford_evidence
        self._per = per
        self._haste = haste  # where memory is known to rise, only what holds it is looked for
        self.join: Callable[[List[Draft]], List[Draft]] = lambda drafts: drafts  # with what else is known, to be told
        self._fewest = rule.fewest
        self.judge = Judge(rule, per)
        self._inquiry = Inquiry(_sources(readings, self._counted), pace, per, haste)
        self.steps = StepCounts(readings.ledger)
        self._keeping = WhatKeeps(bool(readings.config.evidence), lambda: self.steps.keeper)
        self.in_bounds = HeldInBounds(readings, bool(readings.config.evidence) and haste is None)
        self._calls = CallGrowth(readings.operations, _tensor_class)
        self._calls_since = 0  # looks, when the calls of a model began to leak
        self._samples_per_day = samples_per_day
        self._memory_verdict = MemoryVerdict(self._samples_per_day)
        self._bytes = MeasuredBytes()
        self._modules = 0
        self._is_stand_in: Optional[bool] = None  # whether resident memory stands in for what is in use
        self._open = OpenFindings()
        self._doubts, self._byte_doubts = GarbageDoubts(), ByteDoubts()
        self._full_at_recount = collector.full_collections()
        self._lines = KeptLines(readings.level, self.judge, self._open)
        self._taking_evidence = nullcontext if asked else readings.taking_evidence  # who waits has asked for it
        self._looks = 0
        self._held = 0.0  # bytes in use at the last look
        self.memory: Optional[Memory] = None  # as it was read then
        self._recounts_at, self._recounts_after = 0, 8

    @property
    def findings(self) -> List[Finding]:
        """What leaks now."""
        return self._open.findings

    @property
    def verdict(self) -> Verdict:
        """What became of memory while it was looked at."""
        filling = self._inquiry.filling
        return Verdict("filling", filling) if filling else self._memory_verdict.verdict

    def looked(self, seconds: float) -> Looked:
        """How long it has looked, and what it sees growing."""
        unit = "step" if self._is_asked else "look"
        growing = self.in_bounds.growing or self.judge.growing() or self.steps.growing
        return Looked(seconds, self._looks, self._fewest, unit, growing)

    def count_from(self, tallies: Mapping[Key, Tally]) -> None:
        """What is there already is where growth is counted from."""
        self.judge.look(tallies, 0)

    def look(self, now: float, may_inquire: bool = True, is_explained: bool = False) -> List[Finding]:
        """Take one look; what comes back is to be told.

        `may_inquire`: nobody else takes evidence. `is_explained`: somebody else has found what grows.
        """
        if self.see(now, may_inquire, is_explained) or self._looks % _REFRESH == 0:
            return self.sum_up()
        return []

    def see(self, now: float, may_inquire: bool = True, is_explained: bool = False) -> bool:
        """Take one look; True where there is something to tell."""
        self._looks += 1
        self._lines.look()
        news = self._look_at_all(now, may_inquire, is_explained)
        news = self.steps.look(now, self._held) or news
        with self._taking_evidence():
            return self._keeping.look() or news

    def sum_up(self, ending: bool = False) -> List[Finding]:
        """Bring the findings up to date; at the end nothing waits for more evidence."""
        found = self.found(ending)
        told = self.join(found)
        self.judge.keep([draft for draft in found if any(draft.tracks and draft.tracks == one.tracks for one in told)])
        return self._open.update(told)

    @property
    def has_drafts(self) -> bool:
        """Whether something leaks, as far as counts and evidence say."""
        return self._inquiry.finding is not None or self.judge.has_leaks

    def stop(self) -> None:
        """Let go of everything that was under way."""
        self._inquiry.stop()
        self._calls.stop()

    # -- one look

    def _look_at_all(self, now: float, may_inquire: bool, is_explained: bool) -> bool:
        """Counts, then memory; True where there is something to tell."""
        tallies = self._readings.counts()
        news = self.judge.look(tallies, now)
        news = self._confirm_counts(tallies) or news
        if not self._is_asked:
            news = self.judge.know_endless(_graphs_of(self._readings.endless_retraces())) or news
        if not self._readings.config.evidence:
            return news
        return self._look_at_memory(now, may_inquire, is_explained) or news

    def _look_at_memory(self, now: float, may_inquire: bool, is_explained: bool) -> bool:
        # In a loop Python's blocks are counted at each third step, for one floor.
        is_between = self._is_asked and self._looks % LOOKS_OF_FLOOR
        inquiry, last, read = self._inquiry, self.memory, self._readings.memory
        memory = self.memory = read(last.python_blocks) if is_between and last is not None else read()
        self._held = float(memory.held_bytes or 0)
        self._begin_anew_if_starting(memory)
        news = False
        is_undisturbed = may_inquire and not inquiry.is_open  # what it holds would be taken for the program's
        if is_undisturbed:
            self._bytes.look(now, float(memory.held_bytes or 0))
        if is_undisturbed and self._haste is None:
            news = self._memory_verdict.look(memory.held_bytes, memory.kept_bytes, memory.resident_bytes)
            news = self._confirm_bytes(memory) or news
        can_afford = inquiry.is_open or self._affords()
        is_beside = self.judge.has_told
        may_take = self._readings.may_take_evidence()
        unexplained = may_take and not is_explained and not self.judge.anything_rises()
        may_look = (unexplained or (is_beside and may_take)) and can_afford and may_inquire
        may_begin = may_look and (inquiry.is_open or not self.steps.has_begun)
        with self._taking_evidence():
            news = inquiry.look(memory, may_begin, now, self._readings.memory, is_beside) or news
            if may_look and inquiry.is_kept_back and self.steps.has_begun:
                self._explain_by_steps(now)
        if self._per != "step" and self._haste is None:  # a loop's steps are judged by themselves
            news = self._look_at_calls(unexplained) or news
        if inquiry.is_kept_back and may_inquire and can_afford and self._looks >= self._recounts_at:
            with self._taking_evidence():
                self._recount(now)
        return news

    def _explain_by_steps(self, now: float) -> None:
        """What collections explain, counted at each step, needs no inquiry."""
        if self.steps.explains(self._held):
            self._inquiry.put_off()
        else:
            self._inquiry.begin(now, self._readings.memory)

    def _begin_anew_if_starting(self, memory: Memory) -> None:
        """A program that imports much is still starting; and what was read otherwise before can't be compared."""
        if len(sys.modules) - self._modules >= STILL_STARTING:
            self._memory_verdict = MemoryVerdict(self._samples_per_day)
        self._modules = len(sys.modules)
        if self._is_stand_in != (memory.in_use_bytes is None):
            self._is_stand_in = memory.in_use_bytes is None
            self._bytes.begin_anew()
            self._memory_verdict = MemoryVerdict(self._samples_per_day)
            self._inquiry.stop()

    def _look_at_calls(self, unexplained: bool) -> bool:
        """What calls of models leave, while nothing else explains what grows."""
        has_name = self._inquiry.finding is not None or bool(self._inquiry.filling)
        nothing_else = unexplained and not has_name and not self._readings.has_caches()
        news = self._calls.look(self._readings.calls(), nothing_else)
        if not self._calls.leaking:
            self._calls_since = self._looks
        return news

    # -- what may be garbage

    def _confirm_counts(self, tallies: Mapping[Key, Tally]) -> bool:
        """Whether what is suspected is a leak, or garbage that waits for the collector."""
        readings, judge = self._readings, self.judge
        suspects = judge.suspects()
        if not suspects:
            self._doubts.clear()
            return False
        if not readings.config.collect:
            judge.confirm(tallies)
        elif collector.collect(self._is_asked):
            judge.confirm(readings.counts())
        else:
            self._doubts.forget_all_but({track.key for track in suspects})
            living = partial(_living, readings.ledger)
            kept = [track.key for track in suspects if not self._doubts.is_doubted(track.key, tallies, living)]
            judge.confirm(tallies, kept)
            return bool(kept)
        return True

    def _confirm_bytes(self, memory: Memory) -> bool:
        """The same for memory in use."""
        if not self._memory_verdict.wants_collection:
            self._byte_doubts.clear()
            return False
        if self._readings.config.collect:
            if collector.collect(self._is_asked):
                memory = self._readings.memory()
            elif self._byte_doubts.is_doubted():
                return False
        self._memory_verdict.confirm(memory.held_bytes)
        return True

    def _recount(self, now: float) -> None:
        """Counts that rise with memory are no explanation if a collection brings them down again, and it not."""
        readings = self._readings
        self._recounts_after *= 2
        self._recounts_at = self._looks + self._recounts_after
        full = collector.full_collections()
        if readings.config.collect and readings.may_take_evidence():
            if not collector.collect(self._is_asked) and full == self._full_at_recount:
                return
            self._full_at_recount = full
            self.judge.take_after_collection(readings.counts())
            if not self.judge.anything_rises():
                self._inquiry.begin(now, readings.memory)

    # -- what is found

    def found(self, ending: bool = False) -> List[Draft]:
        """What the counts say, and the evidence beside them; where both are silent, what needs no inquiry."""
        drafts = self._lines.of(self.judge.drafts(self._readings.ledger.read()))
        is_open = {finding.story for finding in self._open.findings}
        with self._taking_evidence():
            held = self.in_bounds.of([one for one in drafts if one.finding.story not in is_open])
        self.judge.keep(held)  # what comes with it is no story of its own
        drafts = [one for one in drafts if one not in held]
        counted = self.steps.drafts
        told = {draft.finding.site for draft in (*drafts, *counted)} - {UNKNOWN}
        new = [one for one in self._inquiry.findings if one.site not in told or one.story in is_open]
        beside = counted + [Draft(one, goes_on=self._inquiry.goes_on) for one in new]
        drafts = self._bytes.of(drafts, sum(draft.finding.bytes for draft in beside)) + beside
        if self._haste is None:
            drafts += self._found_without_inquiry(bool(drafts))
        drafts = [self._keeping.told(draft) for draft in drafts if ending or not self._keeping.waits(draft)]
        explained = self._readings.explained
        return [draft._replace(finding=explained(draft.finding)._replace(more=self._more(draft))) for draft in drafts]

    def _counted(self) -> FrozenSet[int]:
        """The ids of all living things of the counts that are told."""
        ledger = self._readings.ledger
        references = [ref for key in self._open.keys for ref in ledger.references_at((key.kind,), key.site, _ALL)]
        return frozenset(ids_alive(references))

    def _found_without_inquiry(self, has_others: bool) -> List[Draft]:
        """What has no better explanation; once told, it stays until its own growth has ended."""
        background = Background(
            per=self._per, calls=tuple(self._calls.leaking), looks_of_calls=self._looks - self._calls_since,
            slow_rise=self._memory_verdict.leaking, heaviest=self._inquiry.heaviest,
            is_filling=bool(self._inquiry.filling), kept_by_allocator=self._memory_verdict.fragmented,
        )  # fmt: skip
        found = filter(None, (hypothesis.ask(background) for hypothesis in WITHOUT_INQUIRY))
        is_open = {finding.story for finding in self._open.findings}
        return [Draft(finding) for finding in next(found, []) if not has_others or finding.story in is_open]

    def _more(self, draft: Draft) -> str:
        """What would tell more, and what of the evidence was left out."""
        parts = [self._readings.would_tell_more()]
        if any(track.key in self._doubts.untested for track in draft.tracks):
            parts.append("no full garbage collection has run since the growth began: some of this may be garbage")
        if not draft.tracks and draft.finding.site == UNKNOWN:
            parts.append(heap_size.too_large())
        return "; ".join(filter(None, parts))


def _graphs_of(sites: Iterable[Site]) -> List[Key]:
    return [Key("function_graph", site) for site in sites]


def _living(ledger: Ledger, key: Key) -> List[int]:
    """The ids of some of the things that an account counts, which live."""
    by = _HELD_BY.get(key.kind)
    if by is not None:
        return ids_alive([ref for _, ref in ledger.references(by, 4)])
    return ids_alive(ledger.references_at((key.kind,), key.site))


def _sources(readings: Readings, counted: Callable[[], FrozenSet[int]]) -> Sources:
    """What an inquiry reads."""
    empty = readings.empty_caches if readings.config.evidence == "active" else None
    return Sources(readings.operations, readings.tapes, readings.remembering, _tensor_class, counted, empty)


def _tensor_class() -> Optional[type]:
    """The class of eager tensors, where there is one."""
    return places.find("eager_tensor").value if places.has("eager_tensor") else None
