"""Tells what was found: in the log, and to the callback of the program. Never within a turn of ours."""

from __future__ import annotations

import time
from typing import Dict, List, Sequence, Union

from ..holders.expected_dead import Expectation
from ..model import Finding, Site
from ..outputs import log
from ..reports import LeftOfModel
from ..safety import guard
from ..units import count_of
from .explaining import Explanations
from .sampler import is_here
from .state import State

_MOST_LEFT = 1000  # lines
News = Union[Finding, Expectation]


class Telling:
    """Where news go, as the settings wish, and as long as the watch runs."""

    def __init__(self, state: State, explanations: Explanations) -> None:
        self._state = state
        self._explanations = explanations
        self.forget()

    def forget(self) -> None:
        """For the child of a fork."""
        self._left: Dict[Site, int] = {}  # models of a line that have gone and left variables

    def tell(self, news: Sequence[News]) -> None:
        """Say it all, each by itself: what follows may be stopped by what was said."""
        for one in news:
            if isinstance(one, Finding):
                self._tell_findings([one])
            elif self._state.is_running:
                self._tell_gone(one)

    def _tell_findings(self, findings: List[Finding]) -> None:
        config = self._state.config
        for finding in self._explanations.with_outlook(findings):
            if not self._state.is_running:
                return
            if config.log:
                log.tell(finding)
            if config.on_finding is not None:
                self._call_back(finding)

    def _call_back(self, finding: Finding) -> None:
        try:
            if self._state.config.on_finding is not None:
                self._state.config.on_finding(finding)
        except Exception:
            guard.failed("on_finding")
        except BaseException:  # SystemExit, KeyboardInterrupt, the end of a test
            if not is_here():
                raise
            guard.failed("on_finding")  # in the watch's thread it would end that one, and nothing else

    def _tell_gone(self, one: Expectation) -> None:
        if self._state.config.log:
            guard.logger.info("%s: the %s is gone, after %.1f s", one.what, one.kind, time.monotonic() - one.since)

    def tell_left(self, news: Sequence[LeftOfModel]) -> None:
        """What models have left: the first of a line, the second, the fourth, …"""
        if len(self._left) > _MOST_LEFT:
            self._left.clear()
        for left in news:
            times = self._left[left.site] = self._left.get(left.site, 0) + 1
            if self._state.config.log and times & (times - 1) == 0:
                again = " (%s so far at this line)" % count_of(times) if times > 1 else ""
                guard.logger.info("a model made at %s is gone: %s%s", left.site.short, left, again)
