"""A loop that somebody else runs, Keras or a session: each turn is a step of a block; what to do when it leaks."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ..errors import ConfigError
from ..memory.limits import Limit, Limits
from ..model import Finding
from ..safety import guard
from ..units import size_of
from .block import Block
from .budget import Allowance
from .installation import installations

ON_LEAK = ("warn", "stop", "raise")
_LIMITS_SECONDS = 1.0  # between two readings: a dozen files
_LEAST_GROWN = 0.01  # of a limit: a loop that does not grow is not what reaches it
_AT_FIRST = 0.001  # seconds of processor time: one inquiry may begin, and the next when that is a small share of it all
_AT_STAKE = 0.05  # of what was left below a limit: when so much more is used, evidence does not wait


class Stop(NamedTuple):
    """Why a loop is to end, in a sentence."""

    why: str
    finding: Optional[Finding] = None


class Loop:
    """One run of such a loop."""

    def __init__(self, block: Block, on_leak: str, stop_at: Optional[float], limits: Optional[Limits] = None) -> None:
        self.block = block
        block.is_asked = False  # a training has other things to do
        self._on_leak, self._stop_at = on_leak, stop_at
        self._limits = Limits() if limits is None else limits
        self._limits_at = 0.0
        self._first: Dict[str, Limit] = {}  # each limit, when the loop began
        self._asks_at = _AT_STAKE
        self.nearest: Optional[Limit] = None  # of which the largest share is used
        self._told: List[Tuple[str, Any]] = []
        self.is_over = False

    def begin(self) -> None:
        """The loop begins."""
        self.block.__enter__()
        watch = self.block.running()
        if all(one.watch is not watch for one in installations):  # its own
            state = watch.state
            state.allowance = Allowance(state.config.max_overhead, first=_AT_FIRST)
        self._first = {limit.name: limit for limit in self._read_limits()}

    def step(self) -> Optional[Stop]:
        """One turn is over; why it should be the last one, if it should."""
        self.block.step()
        try:
            return self._leak() or self._look_at_limits()
        except Exception:
            guard.failed("loop: step")
        return None

    def end(self) -> None:
        """The loop is over, however it ended."""
        if not self.is_over:
            self.is_over = True
            self.block.__exit__(None, None, None)

    @property
    def used_share(self) -> Optional[float]:
        """Of the limit that is nearest, from 0 to 1."""
        return self.nearest.used_bytes / self.nearest.bytes if self.nearest is not None else None

    def _leak(self) -> Optional[Stop]:
        if self._on_leak == "warn":  # the block has told it
            return None
        for finding in self.block.findings:
            if finding.is_sure and finding.story not in self._told:
                self._told.append(finding.story)
                return Stop("%s leaks: %s" % (self.block.name, finding), finding)
        return None

    def _look_at_limits(self) -> Optional[Stop]:
        now = time.monotonic()
        if now < self._limits_at:
            return None
        self._limits_at = now + _LIMITS_SECONDS
        limits = self._read_limits()
        at_stake = max((self._grown(one) / max(1, self._first[one.name].left_bytes) for one in limits), default=0.0)
        if at_stake >= self._asks_at:
            self._asks_at = at_stake + _AT_STAKE
            self.block.running().state.allowance.grant()
        return self._end_of_memory(limits)

    def _grown(self, limit: Limit) -> int:
        """By how much more is used than when the loop began."""
        return limit.used_bytes - self._first.setdefault(limit.name, limit).used_bytes

    def _end_of_memory(self, limits: List[Limit]) -> Optional[Stop]:
        for limit in limits if self._stop_at is not None else ():
            grown = self._grown(limit)
            if limit.used_bytes >= (self._stop_at or 1) * limit.bytes and grown >= _LEAST_GROWN * limit.bytes:
                return Stop(
                    "%s has used %.3g %% of the %s of %s, %s of it since it began; it ends before the limit kills it"
                    % (self.block.name, 100 * limit.used_bytes / limit.bytes, limit.name, size_of(limit.bytes),
                       size_of(grown))
                )  # fmt: skip
        return None

    def _read_limits(self) -> List[Limit]:
        found = self._limits.read()
        self.nearest = max(found, key=lambda limit: limit.used_bytes / limit.bytes, default=None)
        return found


def checked(on_leak: Any, stop_at: Any, who: str) -> None:
    """A ConfigError names the argument, its value and what is allowed."""
    if on_leak not in ON_LEAK:
        raise ConfigError("%s has on_leak=%r; it must be one of %s" % (who, on_leak, ", ".join(map(repr, ON_LEAK))))
    is_share = isinstance(stop_at, (int, float)) and not isinstance(stop_at, bool) and 0 < stop_at <= 1
    if stop_at is not None and not is_share:
        raise ConfigError("%s has stop_at=%r; it must be a share of the limit, above 0 and at most 1, or None"
                          % (who, stop_at))  # fmt: skip


def save(model: Any, to: Any, who: Callable[[], str]) -> str:
    """Save a model before its training ends; what came of it, in words."""
    if to is None:
        return "nothing is saved: give checkpoint= a path"
    try:
        if callable(to):
            to(model)
            return "saved by %s" % getattr(to, "__name__", "checkpoint=")
        path = str(to)
        (model.save_weights if ".weights" in path or path.endswith(".ckpt") else model.save)(path)
        return "saved to %s" % path
    except Exception as error:  # the training ends all the same
        guard.logger.warning("%s: the checkpoint could not be saved: %s", who(), error)
        return "not saved: %s" % error
