"""Looks at counts and memory again and again: the judge, the evidence, and what of it is to be told."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, List, Mapping, Optional

from . import tfapi
from .advice import advice
from .balance import Balance, Verdict
from .casebook import Casebook
from .growth import Rule
from .inquiry import Inquiry, Pace
from .judge import Draft, Judge
from .keeper import Keeper
from .model import FILLING, LEAK, RETAINED, STILL_STARTING, Finding, Key, Site, Tally
from .residue import Residue

if TYPE_CHECKING:
    from .monitor import Watch

_SURE_LOOKS = 1000  # that what has no name must go on for, not to be a cache that still fills
_REFRESH = 16  # looks after which the numbers of open findings are brought up to date
_PROCESS = Site("", 0, "the process")
_KEPT = (
    "function_library",
    "tape",
)  # kinds whose culprit is the collection that keeps, not the line that makes


def _tensor_type() -> Optional[type]:
    """The class of eager tensors, where there is one."""
    return tfapi.find("eager_tensor").value if tfapi.has("eager_tensor") else None


class Examiner:
    """One way of looking at a watch: by the clock for the whole process, or by the steps of a block."""

    def __init__(self, watch: Watch, rule: Rule, pace: Pace, per: str, unit: float = 1.0) -> None:
        self._watch = watch
        self._judge = Judge(rule, per, unit)
        ask = watch.emptied if watch.config.evidence == "active" else None
        self._inquiry = Inquiry(watch.operations, watch.recording, watch.hoarders, pace, per, unit, _tensor_type, ask)
        self._keeper: Optional[Keeper] = None
        self._residue = Residue(watch.operations, _tensor_type)
        self._residue_since = 0  # looks, when the calls of a model began to leak
        self._samples_per_day = None if per == "step" else int(24 * unit)
        self._balance = Balance(self._samples_per_day)
        self._modules = 0
        self._per = per
        self._cases = Casebook()
        self._looks = 0
        self._settles_at, self._settles_after = 0, 8

    @property
    def findings(self) -> List[Finding]:
        """What leaks now."""
        return self._cases.findings

    @property
    def verdict(self) -> Verdict:
        """What became of memory while it was looked at."""
        filling = self._inquiry.filling
        return Verdict("filling", filling) if filling else self._balance.verdict

    def begin(self, tallies: Mapping[Key, Tally]) -> None:
        """What is there already is where growth is counted from."""
        self._judge.look(tallies, 0)

    def look(self, now: float) -> List[Finding]:
        """Take one look; what comes back is to be told."""
        self._looks += 1
        news = self._examine(now)
        if self._keeper is not None and not self._keeper.is_done:
            self._keeper.look()
            news = news or self._keeper.is_done
        if news or self._looks % _REFRESH == 0:
            return self.sum_up()
        return []

    def sum_up(self, ending: bool = False) -> List[Finding]:
        """Bring the findings up to date; at the end nothing waits for more evidence."""
        return self._cases.update(self._found(ending))

    def stop(self) -> None:
        """Let go of everything that was under way."""
        self._inquiry.stop()
        self._residue.stop()

    def _examine(self, now: float) -> bool:
        watch, judge = self._watch, self._judge
        tallies = watch.read()
        news = judge.look(tallies, now)
        if judge.suspects():
            if watch.config.collect:
                gc.collect()
                tallies = watch.read()
            judge.confirm(tallies)
            news = True
        if watch.config.evidence:
            memory = watch.memory()
            if len(sys.modules) - self._modules >= STILL_STARTING:
                self._balance = Balance(self._samples_per_day)
            self._modules = len(sys.modules)
            if not self._inquiry.is_open:  # what it holds while it looks would be taken for the program's
                news = self._balance.look(memory.held_bytes, memory.kept_bytes, memory.resident_bytes) or news
                if self._balance.wants_collection:
                    if watch.config.collect:
                        gc.collect()
                        memory = watch.memory()
                    self._balance.confirm(memory.held_bytes)
                    news = True
            unexplained = not judge.anything_rises() and watch.may_take_evidence()
            news = self._inquiry.look(memory, unexplained, now, watch.memory) or news
            if self._per != "step":  # a loop's steps are judged by themselves
                has_name = self._inquiry.finding is not None or bool(self._inquiry.filling)
                nothing_else = unexplained and not has_name and not watch.caches()
                news = self._residue.look(watch.residues(), nothing_else) or news
                if not self._residue.leaking:
                    self._residue_since = self._looks
            if self._inquiry.is_kept_back and self._looks >= self._settles_at:
                self._settle(now)
        return news

    def _settle(self, now: float) -> None:
        """Counts that rise with memory are no explanation if a collection brings them down again, and it not."""
        watch = self._watch
        self._settles_after *= 2
        self._settles_at = self._looks + self._settles_after
        if watch.config.collect and watch.may_take_evidence():
            gc.collect()
            self._judge.settle(watch.read())
            if not self._judge.anything_rises():
                self._inquiry.begin(now, watch.memory)

    def _found(self, ending: bool) -> List[Draft]:
        """What the counts say; where they are silent, what the evidence says."""
        drafts = self._judge.drafts(self._watch.ledger.read())
        if not drafts and self._inquiry.finding is not None:
            drafts = [Draft(self._inquiry.finding)]
        if not drafts:
            drafts = self._left_by_calls() or self._slowly_leaking() or self._fragmented()
        drafts = [self._kept(draft) for draft in drafts if ending or not self._waits(draft)]
        more = self._watch.more()
        explained = self._watch.explained
        return [draft._replace(finding=explained(draft.finding)._replace(more=more)) for draft in drafts]

    def _left_by_calls(self) -> List[Draft]:
        """What calls of models leave, and no object explains."""
        drafts = []
        verdict = LEAK if self._looks - self._residue_since >= _SURE_LOOKS else FILLING
        for residue in self._residue.leaking:
            row = advice("call_residue", residue.cause)
            drafts.append(Draft(Finding(
                kind=row.kind, site=residue.site, since=0, grown=0, rate=0.0, per=self._per,
                bytes=int(residue.rise.bytes), verdict=verdict, cause=row.cause, cure=row.cure, confidence=0.8,
            )))  # fmt: skip
        return drafts

    def _slowly_leaking(self) -> List[Draft]:
        """What no inquiry has found, since it rises too slowly for one."""
        growth = self._balance.leaking
        if growth is None or self._inquiry.filling:
            return []
        at, what = self._inquiry.heaviest
        row = advice("slow_rise", what)
        finding = Finding(
            kind=row.kind, site=at, since=0.0, grown=0, rate=0.0, per=self._per,
            bytes=int(growth.last - growth.first), verdict=LEAK, cause=row.cause, cure=row.cure, confidence=0.5,
        )  # fmt: skip
        return [Draft(finding)]

    def _fragmented(self) -> List[Draft]:
        """Where nothing leaks: what the allocator keeps."""
        kept = self._balance.fragmented
        if kept is None:
            return []
        row = advice("fragmentation")
        finding = Finding(
            kind=row.kind, site=_PROCESS, since=0, grown=0, rate=0.0, per=self._per, bytes=int(kept),
            verdict=RETAINED, cause=row.cause, cure=row.cure, confidence=0.6,
        )  # fmt: skip
        return [Draft(finding)]

    def _waits(self, draft: Draft) -> bool:
        """Whether it is still to be found out what keeps these things."""
        if draft.finding.kind not in _KEPT or not self._watch.config.evidence:
            return False
        if self._keeper is None:
            self._keeper = Keeper()
        return not self._keeper.is_done

    def _kept(self, draft: Draft) -> Draft:
        keeper = self._keeper
        if keeper is None or keeper.site is None or draft.finding.kind not in _KEPT:
            return draft
        return draft._replace(finding=draft.finding._replace(site=keeper.site, holder=keeper.holder))
