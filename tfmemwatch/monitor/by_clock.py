"""Looking by the clock: one detector at long, even distances, and another one where there is no time for that.

The first looks every `sample_seconds`. What it finds has lasted for some ten minutes: neither a start-up nor a cache that fills
in a while passes for a leak. The second is there only while memory rises fast enough to be used up before the first can
be certain. It looks as often as it must (see `cadence`), evenly, and begins anew where the pace becomes another one. What it
finds is told by the share of memory that is gone (see `urgency`), never by the number of looks.
"""

from __future__ import annotations

import sys
from typing import List, Optional

from ..evidence.evidence import Pace
from ..growth.memory_verdict import Verdict
from ..growth.rules import COUNT_EVENTS, COUNT_URGENT
from ..judge.judge import Draft
from ..memory.stake import Stake
from ..model import STILL_STARTING, Finding
from .cadence import Cadence
from .detector import Detector, Haste
from .readings import Readings
from .urgency import Urgency

_PACE = Pace(bytes_a_look=0, bytes_in_all=768 * 1024, first_half=0.75)
_REFRESH = 16  # looks after which what was found soon is weighed again
_FIRST_LOOKS = 56  # in which evidence may begin anew at half the pause; later it must be a quarter
_IDLE_LOOKS = 256  # without need, after which the second detector goes
WHOLE, BETWEEN, NOTHING = "whole", "between", ""  # looks that may be due


class ByClock:
    """Decides when to look and with which detector, and has one list of what is open."""

    def __init__(self, readings: Readings, stake: Stake) -> None:
        self._readings = readings
        self._stake = stake
        longest = readings.config.sample_seconds
        self._cadence = Cadence(longest)
        self._urgency = Urgency(stake)
        self.steady = Detector(readings, COUNT_EVENTS, _PACE, "hour", int(24 * 3600 / longest))
        self.steady.join = self._joined
        self._urgent: Optional[Detector] = None
        self.longest_seconds = longest  # more, while looks cost more than they may
        self._looked_at = 0.0  # the last time at everything
        self._pause = longest  # of the urgent one
        self._looks = self._idle = 0  # of the urgent one
        self._modules = len(sys.modules)

    # -- when

    def pause(self, now: float) -> float:
        """Until something is due: in the longest pause there are glances, which cost next to nothing."""
        between = self._cadence.glance_seconds if self._urgent is None else self._pause
        return max(0.0, min(self._looked_at + self.longest_seconds - now, between))

    def due(self, now: float, used_bytes: Optional[int]) -> str:
        """Take what is in use now, None where nothing is looked at; which look is due."""
        modules = len(sys.modules)
        if modules - self._modules >= STILL_STARTING:
            self._cadence.forget()
            self._end_urgent()
        self._modules = modules
        if used_bytes is None:
            self._end_urgent()
        else:
            self._cadence.glance(now, float(used_bytes))
            self._set_pause(self._cadence.pause_for(self._stake.left_bytes))
        if now - self._looked_at >= self.longest_seconds:
            return WHOLE
        return NOTHING if self._urgent is None else BETWEEN

    def _set_pause(self, pause: float) -> None:
        if self._urgent is None:
            if pause < self._cadence.longest_seconds:
                self._begin_urgent(pause)
            return
        if pause <= self._pause:
            self._idle = 0
        is_known = bool(self.steady.findings)  # what is open goes on to be looked at as it was
        if not is_known and pause <= self._pause / (2 if self._looks < _FIRST_LOOKS else 4):
            self._begin_urgent(pause)

    def _begin_urgent(self, pause: float) -> None:
        self._end_urgent()
        self._pause, self._looks, self._idle = pause, 0, 0
        haste = Haste(pause, self._urgency.is_too_late)
        self._urgent = Detector(self._readings, COUNT_URGENT, _PACE, "hour", haste=haste)

    def _end_urgent(self) -> None:
        if self._urgent is not None:
            self._urgent.stop()
            self._urgent = None

    # -- looking

    def look(self, now: float) -> List[Finding]:
        """One look of both; what comes back is to be told."""
        self._looked_at = now
        news = self.look_between(now)
        return news + self.steady.look(now, may_inquire=self._urgent is None)

    def look_between(self, now: float) -> List[Finding]:
        """One look of the second detector, where there is one."""
        urgent = self._urgent
        if urgent is None:
            return []
        self._looks += 1
        self._idle += 1
        if self._idle > _IDLE_LOOKS and not urgent.has_drafts:
            self._end_urgent()
            return []
        news = urgent.see(now)
        if news or (self._looks % _REFRESH == 0 and urgent.has_drafts):
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
