"""Where the bytes of a process go, look by look: in use, kept by the allocator, or given back. Knows no process."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from ..units import size_of
from .episode import Growth
from .rules import BYTE_SAMPLES, BYTE_STEPS, Rule
from .series import Series

_MOST_FLOORS = 64
_LEAST_FLOORS = 16  # before which nothing is said
_LEAST_RISE = 1 << 20  # bytes: below it a process stands still, on any machine
_FRAGMENTED = 64 << 20  # bytes that an allocator must have come to keep before it is worth a finding
_SLOW_LOOKS = 2048  # that in-use memory must have risen for, where nothing that is held explains it
_LEAST_SLOPE = 800  # bytes a step: below it a process may rise for reasons of its own
_KEPT = Rule(block=8, combine="mean", rises=32, bent=0.56, straighten=1.0, material=0.3, clear=4.0)


class Verdict(NamedTuple):
    """What became of memory, and how one knows."""

    word: str  # steady, leak, filling, filled, retained, released; "" where there was too little to see
    why: str


class MemoryVerdict:
    """Floors of what is in use and of what is kept, thinned so that they never become more; a verdict on them."""

    def __init__(self, samples_per_day: Optional[int] = None) -> None:
        """`samples_per_day` where looks come by the clock; None where they are the steps of a loop."""
        self._by_clock = samples_per_day is not None
        rule = BYTE_SAMPLES if self._by_clock else BYTE_STEPS
        self._rises = Series(rule, samples_per_day=samples_per_day)
        self._held: List[float] = []
        self._kept: List[float] = []
        self._looks = 1  # that make a floor
        self._left = 1
        self._least_held = self._least_kept = float("inf")
        self._series = Series(_KEPT)

    def look(self, held: Optional[int], kept: Optional[int], resident: Optional[int]) -> bool:
        """Take one reading: bytes in use, free but kept by malloc, and resident. True when there is news."""
        if held is None:
            return False
        free = _kept_in_memory(held, kept, resident)
        self._least_held = min(self._least_held, held)
        self._least_kept = min(self._least_kept, free)
        self._left -= 1
        if not self._left:
            self._close()
        news = self._series.update(free) if kept is not None else False
        if self._series.verdict == "suspected":  # no collection makes free memory freer
            self._series.confirm(free)
        return self._rises.update(float(held)) or news

    @property
    def wants_collection(self) -> bool:
        """Whether it must be known what a collection leaves; in a loop, where it is dear, of what may be told."""
        growth = self._rises.growth
        is_long = self._by_clock or (growth is not None and growth.samples >= _SLOW_LOOKS)
        return self._rises.verdict == "suspected" and is_long

    def confirm(self, held: Optional[int]) -> None:
        """What is in use after a collection."""
        if held is not None:
            self._rises.confirm(float(held))

    @property
    def leaking(self) -> Optional[Growth]:
        """A rise of what is in use that is slow, and goes on and on."""
        growth = self._rises.growth
        if self._rises.verdict != "leak" or growth is None or growth.samples < _SLOW_LOOKS:
            return None
        is_worth = growth.last - growth.first >= _LEAST_RISE and (self._by_clock or growth.slope >= _LEAST_SLOPE)
        return growth if is_worth else None

    def _close(self) -> None:
        self._held.append(self._least_held)
        self._kept.append(self._least_kept)
        self._least_held = self._least_kept = float("inf")
        if len(self._held) >= _MOST_FLOORS:
            self._held = [min(pair) for pair in zip(self._held[::2], self._held[1::2])]
            self._kept = [min(pair) for pair in zip(self._kept[::2], self._kept[1::2])]
            self._looks *= 2
        self._left = self._looks

    @property
    def verdict(self) -> Verdict:
        """What has become of memory since the first look."""
        held, kept = self._held, self._kept
        if len(held) < _LEAST_FLOORS:
            return Verdict("", "too few looks")
        rise, free = held[-1] - held[0], kept[-1] - kept[0]
        worth = max(_LEAST_RISE, 0.01 * held[0])
        back = max(held) - held[-1]
        if back >= worth and max(held) - held[0] >= worth:
            if free >= worth:
                share = size_of(min(back, free))
                return Verdict("retained", "%s were freed, and the allocator keeps %s of them" % (size_of(back), share))
            return Verdict("released", "%s were freed" % size_of(back))
        if rise >= worth:
            return _rising(held, worth)
        if free >= worth:
            return Verdict("retained", "memory use is level; the allocator keeps %s more than at first" % size_of(free))
        return Verdict("steady", "memory use is level, give or take %s" % size_of(worth))

    @property
    def fragmented(self) -> Optional[float]:
        """Bytes that the allocator has come to keep, if that goes on and on while what is in use stands still."""
        series = self._series
        if series.verdict != "leak" or series.growth is None:
            return None
        more = series.growth.last - series.growth.first
        rise = self._held[-1] - self._held[0] if self._held else 0.0
        return more if more >= _FRAGMENTED and rise < 0.25 * more else None


def _kept_in_memory(held: float, kept: Optional[int], resident: Optional[int]) -> float:
    """What the allocator keeps and the system has to pay for: what was never touched or was given back is neither."""
    if kept is None:
        return 0.0
    return float(kept) if resident is None else float(max(0, min(kept, resident - held)))


def _rising(held: List[float], worth: float) -> Verdict:
    """Straight, slowing down, or over: the last third of the time against the first."""
    third = len(held) // 3
    first = held[third] - held[0]
    last = held[-1] - held[-1 - third]
    if last >= 0.5 * first and last > 0:
        return Verdict("leak", "memory in use rises, by %s in the last third of the time" % size_of(last))
    if last < worth:
        return Verdict("filled", "memory in use rose by %s at first, and is level now" % size_of(held[-1] - held[0]))
    told = "memory in use rises more slowly: by %s in the first third of the time, by %s in the last"
    return Verdict("filling", told % (size_of(first), size_of(max(0.0, last))))
