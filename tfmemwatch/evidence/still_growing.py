"""Whether what was told still grows: a finding whose growth has stopped is over."""

from __future__ import annotations

from typing import Callable, Optional

_LENGTH_PARTS = 8  # of the time that must pass: as often a length is asked for
_TENSOR_PARTS = 2  # the number of tensors costs a look at all objects
_FLOORS = 3  # of bytes, in this time
_SHARE_OF_TENSORS = 0.1  # that had come until it was told: what is less is noise
_SHARE_OF_BYTES = 0.25  # of the pace at which it was told


class StillGrowing:
    """Looks on at what a finding has counted."""

    is_of_bytes = False
    is_known = True  # whether it can still be counted
    more = 0.0  # than when it was told

    def has_stopped(self) -> bool:
        """Take one look; whether it has not grown for as many looks as it took to be told."""
        raise NotImplementedError


class OfCount(StillGrowing):
    """Items of a collection, or tensors: what was never as many is growth."""

    def __init__(self, looks: int, count: Callable[[], Optional[float]], parts: int, least: float) -> None:
        self._looks = max(1, looks)
        self._count = count
        self._apart = max(1, looks // parts)
        self._least = least
        self._passed = self._grew_at = 0
        self._last = count()
        self._told = self._last or 0.0

    @property
    def is_known(self) -> bool:  # type: ignore[override]
        """Whether what is counted is where it was."""
        return self._last is not None

    @property
    def more(self) -> float:  # type: ignore[override]
        """Than when it was told."""
        return self._last - self._told if self._last is not None else 0.0

    def has_stopped(self) -> bool:
        """What is where it was no more says nothing: another may have its place."""
        self._passed += 1
        if self._last is None or self._passed % self._apart:
            return False
        count = self._count()
        if count is None:
            self._last = None
            return False
        if count >= self._last + self._least:
            self._last, self._grew_at = count, self._passed
        return self._passed - self._grew_at >= self._looks


class OfBytes(StillGrowing):
    """Bytes in use: the floor of some looks lies where the one before it lay."""

    is_of_bytes = True

    def __init__(self, looks: int, in_use: Callable[[], float], a_look: float) -> None:
        self._looks = self._left = max(1, looks // _FLOORS)  # that make a floor
        self._in_use = in_use
        self._least = _SHARE_OF_BYTES * a_look * self._looks
        self._floor = float("inf")
        self._before: Optional[float] = None
        self._told: Optional[float] = None

    def has_stopped(self) -> bool:
        """Where it is lower than before, something else was freed: nothing is known, and the next floor says more."""
        self._floor = min(self._floor, self._in_use())
        self._left -= 1
        if self._left:
            return False
        floor, before = self._floor, self._before
        self._before, self._floor, self._left = floor, float("inf"), self._looks
        if self._told is None:
            self._told = floor
        self.more = floor - self._told
        return before is not None and abs(floor - before) <= self._least


def of_items(looks: int, length: Callable[[], Optional[int]]) -> StillGrowing:
    """Of a collection: one item more than ever is growth."""
    return OfCount(looks, length, _LENGTH_PARTS, 1)


def of_tensors(looks: int, count: Callable[[], int], grown: int) -> StillGrowing:
    """Of tensors: a share of those that had come until it was told."""
    return OfCount(looks, count, _TENSOR_PARTS, max(1.0, _SHARE_OF_TENSORS * grown))


def of_bytes(looks: int, in_use: Callable[[], float], a_look: float) -> StillGrowing:
    """Of bytes in use, which grew by so many at each look when it was told."""
    return OfBytes(looks, in_use, a_look)
