"""Looking by the clock: one detector at long, even distances, and another one where there is no time for that.

The first looks every `sample_seconds`. What it finds has lasted for more than ten minutes: neither a start-up nor a
cache that fills in a while passes for a leak. The second is there only while memory rises fast enough to be used up
before the first can be certain. It looks as often as it must (see `cadence`), evenly, and begins anew where the pace
becomes another one. What it finds is told by the share of memory that is gone (see `urgency`), never by the number of
looks.
"""

from __future__ import annotations

import sys
from typing import List, Optional

from ..evidence.evidence import Pace
from ..evidence.inquiry import Haste
from ..growth.memory_verdict import Verdict
from ..growth.rules import COUNT_STEADY, COUNT_URGENT
from ..headline import Looked
from ..judge.judge import Draft
from ..memory.stake import Stake
from ..model import STILL_STARTING, Finding
from .cadence import Cadence, Rise
from .detector import Detector
from .readings import Readings
from .urgency import Urgency

_PACE = Pace(bytes_a_look=0, bytes_in_all=768 * 1024, first_half=0.75)
_CERTAIN_LOOKS = 150  # of the first detector, until it is certain
_REFRESH = 4  # looks after which what was found soon is weighed again, until it is told
_REFRESH_TOLD = 16  # and from then on
_FASTER = 3  # times as fast must memory rise, for evidence to begin anew
_PART_LOOKS = 64  # over which memory must have risen, or it was a swing
_SLOWER = 1.02  # times the pause, from look to look, when all is told
_GOES_ON = 0.25  # of the pace at which it rose
WHOLE, BETWEEN, NOTHING = "whole", "between", ""  # looks that may be due


class ByClock:
    """Decides when to look and with which detector, and has one list of what is open."""

    def __init__(self, readings: Readings, stake: Stake) -> None:
        self._readings = readings
        self._stake = stake
        longest = readings.config.sample_seconds
        self._cadence = Cadence(longest)
        self._urgency = Urgency(stake, _CERTAIN_LOOKS * longest)
        self.steady = Detector(readings, COUNT_STEADY, _PACE, "hour", int(24 * 3600 / longest))
        self.steady.join = self._joined
        self._urgent: Optional[Detector] = None
        self.longest_seconds = longest  # more, while looks cost more than they may
        self._looked_at = 0.0  # the last time at everything
        self._woke_at = 0.0
        self._pause = longest  # of the urgent one
        self._rise: Optional[Rise] = None  # that the urgent one is there for
        self._looks = self._part_ends = 0  # of the urgent one
        self._least = float("inf")  # in use, in this part of its looks
        self._floor: Optional[float] = None  # in the part before
        self._modules = len(sys.modules)

    # -- when

    def pause(self, now: float) -> float:
        """Until something is due: in the longest pause there are glances, which cost next to nothing.

        From the beginning of a look to that of the next, so that they are even. Never next to none, however long a
        look has taken: the program has its turn.
        """
        between = self._cadence.glance_seconds if self._urgent is None else self._pause
        return max(0.5 * between, min(self._looked_at + self.longest_seconds, self._woke_at + between) - now)

    @property
    def stake_seconds(self) -> float:
        """How old the share that is used up may be, where it decides whether something is told."""
        return float("inf") if self._urgent is None else _REFRESH * self._pause

    def due(self, now: float, used_bytes: Optional[int]) -> str:
        """Take what is in use now, None where nothing is looked at; which look is due."""
        self._woke_at = now
        modules = len(sys.modules)
        if modules - self._modules >= STILL_STARTING:
            self._cadence.forget()
            self._end_urgent()
        self._modules = modules
        if used_bytes is None:
            self._end_urgent()
        else:
            left = self._stake.left_bytes
            self._cadence.glance(now, float(used_bytes), left)
            self._follow(self._cadence.rise(left), float(used_bytes))
        if now - self._looked_at >= self.longest_seconds:
            return WHOLE
        return NOTHING if self._urgent is None else BETWEEN

    def _follow(self, rise: Optional[Rise], used_bytes: float) -> None:
        """Begin with the second detector where memory rises fast, anew where it rises faster; end where it does not."""
        self._least = min(self._least, used_bytes)
        if self._urgent is None:
            if rise is not None:
                self._begin_urgent(rise)
            return
        self._cadence.glance_closely()
        if self._urgent.has_drafts:
            self._slow_down(rise)
        elif rise is not None and rise.pause_seconds <= self._pause / _FASTER:
            self._begin_urgent(rise)
        elif self._looks >= self._part_ends:
            self._look_whether_it_goes_on()

    def _slow_down(self, rise: Optional[Rise]) -> None:
        """What leaks is looked at as it was until it is told; then as often as it still asks for."""
        if self._is_told:
            longer = rise.pause_seconds if rise is not None else _SLOWER * self._pause
            self._pause = min(self._cadence.longest_seconds, max(self._pause, longer))

    @property
    def _is_told(self) -> bool:
        findings = self.steady.findings
        return bool(findings) and all(one.is_sure for one in findings)

    def _look_whether_it_goes_on(self) -> None:
        """What was a swing, or is over, needs no more looks."""
        rise, before = self._rise, self._floor
        risen = self._least - before if before is not None else float("inf")
        if rise is not None and risen < _GOES_ON * rise.bytes_a_look * _PART_LOOKS:
            self._cadence.was_wrong(rise.scale)
            self._end_urgent()
        self._floor, self._least, self._part_ends = self._least, float("inf"), self._looks + _PART_LOOKS

    def _begin_urgent(self, rise: Rise) -> None:
        self._end_urgent()
        self._rise, self._pause, self._looks = rise, rise.pause_seconds, 0
        self._floor, self._least, self._part_ends = None, float("inf"), _PART_LOOKS
        haste = Haste(rise.since, rise.pause_seconds, rise.bytes_a_look, self._urgency.is_too_late)
        self._urgent = Detector(self._readings, COUNT_URGENT, _PACE, "hour", haste=haste)

    def _end_urgent(self) -> None:
        if self._urgent is not None:
            self._urgent.stop()
            self._urgent = None

    # -- looking

    def look(self, now: float) -> List[Finding]:
        """One look of both; what comes back is to be told."""
        late = now - self._looked_at - self.longest_seconds
        is_late = 0 <= late < self.longest_seconds
        self._looked_at = now - late if is_late else now  # so that a day has as many as it should
        news = self.look_between(now)
        urgent = self._urgent
        is_explained = urgent is not None and urgent.has_drafts
        return news + self.steady.look(now, may_inquire=urgent is None, is_explained=is_explained)

    def look_between(self, now: float) -> List[Finding]:
        """One look of the second detector, where there is one."""
        urgent = self._urgent
        if urgent is None:
            return []
        self._looks += 1
        news = urgent.see(now)
        refresh = _REFRESH_TOLD if self._is_told else _REFRESH
        if news or (self._looks % refresh == 0 and urgent.has_drafts):
            return self.steady.sum_up()
        return []

    def _joined(self, drafts: List[Draft]) -> List[Draft]:
        """What both have found, as what it may be told."""
        found = [one for one in (self._urgency.weighed(draft, False) for draft in drafts) if one is not None]
        soon = [] if self._urgent is None else self._urgent.found()
        for one in (self._urgency.weighed(draft, True) for draft in soon):
            if one is None:
                continue
            same = next((other for other in found if _is_same(one, other)), None)
            if same is None:
                found.append(one)
            elif one.finding.is_sure and not same.finding.is_sure:
                found[found.index(same)] = one
        return found

    # -- what is known

    @property
    def findings(self) -> List[Finding]:
        """What leaks now."""
        return self.steady.findings

    @property
    def verdict(self) -> Verdict:
        """What became of memory."""
        return self.steady.verdict

    def looked(self, seconds: float) -> Looked:
        """How long it has looked, and what it sees growing."""
        return self.steady.looked(seconds)

    def sum_up(self) -> List[Finding]:
        """Bring the findings up to date."""
        return self.steady.sum_up()

    def stop(self) -> None:
        """Let go of everything that was under way."""
        self.steady.stop()
        self._end_urgent()


def _is_same(one: Draft, other: Draft) -> bool:
    keys, others = ({track.key for track in draft.tracks} for draft in (one, other))
    return bool(keys & others) or one.finding.story == other.finding.story
