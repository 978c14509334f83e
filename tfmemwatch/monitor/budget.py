"""What the watch may cost, and what follows when it costs more. Knows no clock: times in, an answer out."""

from __future__ import annotations

from typing import Optional

WINDOW_SECONDS = 60.0  # over which the cost is averaged
_IN_A_ROW = 2  # windows above the budget: one call in many is timed, and that one may have met the garbage collector
_MOST_PATIENCE = 64  # windows between two tries
_EVIDENCE_AT_ONCE = 3.0  # seconds of processor time that evidence may take before it must wait
_STEPS_AT_ONCE = 10.0  # the same for a block, in the loop's own thread: in a large heap an inquiry takes seconds
_A_STEP = 0.0002  # seconds, on average
_MOST_TO_COUNT = 0.001  # seconds of a step at which nothing is done but counting


class Budget:
    """Compares what was spent with the time that has passed, window by window."""

    def __init__(self, most: float, window_seconds: float = WINDOW_SECONDS, patience: int = 1) -> None:
        self.most = most
        self.share = 0.0  # of the last whole window
        self._window = window_seconds
        self._began: Optional[float] = None
        self._spent = 0.0
        self._lowered = self._quiet = self._over = 0
        self._patience = patience  # quiet windows before the next try
        self._is_trying = False  # it was raised, and has not proved to be cheap enough yet

    @property
    def is_lowered(self) -> bool:
        """Whether less is done than was asked for."""
        return self._lowered > 0

    def look(self, now: float, spent: float) -> str:
        """Take the time and what was spent so far, both in seconds: "lower", "raise", or nothing to do."""
        if self._began is None:
            self._began, self._spent = now, spent
            return ""
        passed = now - self._began
        if passed < self._window:
            return ""
        self.share = max(0.0, spent - self._spent) / passed
        self._began, self._spent = now, spent
        return self._above() if self.share > self.most else self._within()

    def _above(self) -> str:
        self._quiet = 0
        self._over += 1
        if self._over < _IN_A_ROW and not self._is_trying:
            return ""
        self._over = 0
        self._lowered += 1
        if self._is_trying:
            self._patience = min(2 * self._patience, _MOST_PATIENCE)
            self._is_trying = False
        return "lower"

    def _within(self) -> str:
        self._over = 0
        self._quiet += 1
        if self._quiet < self._patience:
            return ""
        if self._lowered:
            self._lowered -= 1
            self._quiet = 0
            self._is_trying = True
            return "raise"
        if self._quiet >= self._patience + _IN_A_ROW:
            self._is_trying = False
        if self._quiet >= 8 * self._patience:
            self._patience = 1
        return ""


class Allowance:
    """Time that evidence may take: so much at once, and then a share of the time that passes."""

    def __init__(self, share: float, at_once: float = _EVIDENCE_AT_ONCE, first: Optional[float] = None) -> None:
        self._share, self._at_once = share, at_once
        self._left = at_once if first is None else first  # before the first time
        self._now: Optional[float] = None

    def spend(self, seconds: float) -> None:
        """Evidence has taken so much."""
        self._left -= seconds

    def grant(self) -> None:
        """What is at stake asks for evidence now."""
        self._left = self._at_once

    def has_some(self, now: float) -> bool:
        """Whether evidence may begin; where it has taken much, it waits until that has become a small share."""
        if self._now is not None:
            self._left = min(self._at_once, self._left + self._share * (now - self._now))
        self._now = now
        return self._left > 0


class StepAllowance:
    """Time that evidence may take at the steps of a block: so much at once, and then a share of the time that passes.

    Of quick steps that would be next to nothing: those have so much each. A step that only counts is not charged.
    """

    def __init__(self, share: float, at_once: float = _STEPS_AT_ONCE) -> None:
        self._share = share
        self._at_once = self._left = at_once
        self._now: Optional[float] = None

    def took(self, now: float, seconds: float) -> None:
        """One more step was marked, at this time, and that took so much."""
        passed = now - self._now if self._now is not None else 0.0
        self._now = now
        spent = seconds if seconds > _MOST_TO_COUNT else 0.0
        self._left = min(self._at_once, self._left + max(_A_STEP, self._share * passed)) - spent

    @property
    def seconds(self) -> float:
        """That may still be spent on evidence."""
        return max(0.0, self._left)


class Pause:
    """The pause between two looks: longer while the looks themselves take more than they may."""

    _LONGEST = 64  # times as long as it was told

    def __init__(self, seconds: float, most: float) -> None:
        self.budget = Budget(most)
        self._told = self.seconds = seconds

    def look(self, now: float, spent: float) -> None:
        """Take the time and what looking has taken so far."""
        word = self.budget.look(now, spent)
        if word == "lower":
            self.seconds = min(2 * self.seconds, self._LONGEST * self._told)
        elif word == "raise":
            self.seconds = max(self.seconds / 2, self._told)
