"""One growth of a series: sums over the floors since it began, and its shape."""

from __future__ import annotations

import math
from typing import NamedTuple


class Growth(NamedTuple):
    """From where to where a series grew, how fast, and how straight."""

    first: float
    last: float
    since: int  # index, from 0, of the sample after which it grew
    samples: int  # how long it has grown
    rises: int  # floors above the one before
    slope: float  # per sample
    slope_error: float  # one standard error, from the scatter of the rises
    bend: float  # area under the growth, as a share of its box: 0.5 is straight, more slows down


class Mark(NamedTuple):
    """Where an episode stood at one floor, so that what came before can be forgotten."""

    since: int
    first: float
    floors: int
    rises: int
    area: float
    squares: float
    wealth: float

    def less(self, start: Mark, first: float) -> Mark:
        """The same place, counted from `start` in an episode that began at the value `first`."""
        floors = self.floors - start.floors
        return Mark(
            self.since,
            self.first,
            floors,
            self.rises - start.rises,
            self.area - start.area - floors * (start.first - first),
            self.squares - start.squares,
            self.wealth - start.wealth,
        )


class Episode:
    """One growth: sums over the floors since it began."""

    __slots__ = ("area", "first", "floors", "last", "length", "low", "peak", "rises", "since", "squares")

    def __init__(self, length: int, since: int, first: float) -> None:
        self.length = length  # samples a floor
        self.begin(since, first)

    def begin(self, since: int, first: float) -> None:
        """Forget everything, and grow from here."""
        self.since = since
        self.first = self.last = self.peak = first
        self.floors = self.rises = 0
        self.area = self.squares = 0.0
        self.low = False

    def add(self, floor: float) -> None:
        """Take the next floor."""
        step = floor - self.last
        self.last = floor
        self.floors += 1
        self.area += floor - self.first
        self.squares += step * step
        if step > 0:
            self.rises += 1
        if floor > self.peak:
            self.peak = floor

    @property
    def grown(self) -> float:
        """The last floor less the first."""
        return self.last - self.first

    @property
    def samples(self) -> int:
        """How long the episode is, in samples."""
        return self.floors * self.length

    @property
    def bend(self) -> float:
        """0.5 for a straight line, towards 1 for what jumps and then stands, 0 for what explodes."""
        if self.grown <= 0:
            return 1.0
        return (self.area / self.grown - 0.5) / self.floors

    @property
    def scatter(self) -> float:
        """Standard deviation of the rises from floor to floor."""
        if not self.floors:
            return 0.0
        mean = self.grown / self.floors
        return math.sqrt(max(0.0, self.squares / self.floors - mean * mean))

    def given_back(self) -> bool:
        """True at the second floor in a row below half of the growth: one dip is none."""
        low = self.last - self.first < 0.5 * (self.peak - self.first)
        twice = low and self.low
        self.low = low
        return twice

    def copy(self) -> Episode:
        """The same growth, which goes on by itself."""
        copy = Episode(self.length, self.since, self.first)
        copy.peak, copy.last = self.peak, self.last
        copy.floors, copy.rises = self.floors, self.rises
        copy.area, copy.squares = self.area, self.squares
        return copy

    def start_at(self, since: int, first: float, sums: Mark) -> None:
        """Forget what came before, where `sums` is what came after."""
        self.since, self.first, self.peak = since, first, self.last
        self.floors, self.rises = sums.floors, sums.rises
        self.area, self.squares = sums.area, sums.squares

    def as_growth(self) -> Growth:
        """The episode as a value."""
        samples = max(1, self.samples)
        return Growth(
            first=self.first,
            last=self.last,
            since=max(0, self.since - 1),
            samples=self.samples,
            rises=self.rises,
            slope=self.grown / samples,
            slope_error=self.scatter * math.sqrt(self.floors) / samples,
            bend=self.bend,
        )
