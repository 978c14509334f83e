"""What is at stake: how much of the memory that was free when a growth began has been used up since then."""

from __future__ import annotations

from bisect import bisect_right
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .limits import Limit

_MOST = 256  # moments that are remembered, the older ones the more seldom
_OF_MACHINE = "machine"
_OTHERS = 32  # times the growth of this process: what a container has grown by beyond that is others'

_Which = Tuple[str, int]  # a limit, by its label and its bytes


class Used(NamedTuple):
    """Of one limit: the share of what was free, and when the rest is used up at this pace."""

    share: float
    limit: str
    seconds: float
    after: float = 0.0  # seconds, in which that share was used

    def share_in(self, seconds: float) -> float:
        """What it comes to at this pace, so long after the growth began."""
        return self.share * max(1.0, seconds / max(1e-3, self.after))


NOTHING = Used(0.0, "", float("inf"))


class _Moment(NamedTuple):
    now: float
    own_bytes: float
    limits: Dict[_Which, Limit]


class Stake:
    """Remembers what was used and left below each limit, from time to time."""

    def __init__(self) -> None:
        self._moments: List[_Moment] = []

    def look(self, now: float, own_bytes: Optional[int], limits: Sequence[Limit]) -> None:
        """Take one reading: what of this process can't be dropped, and the limits that hold."""
        if own_bytes is None:
            return
        if len(self._moments) >= _MOST:
            del self._moments[1 : _MOST // 2 : 2]
        self._moments.append(_Moment(now, float(own_bytes), {(one.label, one.bytes): one for one in limits}))

    @property
    def left_bytes(self) -> Optional[int]:
        """Below the nearest limit, as far as is known."""
        last = self._moments[-1] if self._moments else None
        return min((one.left_bytes for one in last.limits.values()), default=None) if last is not None else None

    def used_since(self, since: float) -> Used:
        """Of the limit of which most has been used up since then, or since it is there: one may be set anew."""
        moments = self._moments
        if len(moments) < 2:
            return NOTHING
        last = moments[-1]
        begun = moments[max(0, bisect_right([one.now for one in moments], since) - 1) :]
        found = [
            _used(next(one for one in begun if which in one.limits), last, which) for which in last.limits
        ]  # fmt: skip
        return max(found, default=NOTHING)


def _used(then: _Moment, last: _Moment, which: _Which) -> Used:
    before, now = then.limits[which], last.limits[which]
    grown = own = last.own_bytes - then.own_bytes
    if now.label != _OF_MACHINE:  # where others come and go as they like
        of_all = float(now.used_bytes - before.used_bytes)
        grown = of_all if not now.is_of_container or of_all <= _OTHERS * own else own
    if grown <= 0:
        return NOTHING
    after = last.now - then.now
    return Used(grown / max(1, before.left_bytes), now.name, now.left_bytes * after / grown, after)
