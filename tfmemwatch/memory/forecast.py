"""When a limit is reached if memory goes on to grow as it does. No clock, no process: values in, a range out."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

from ..units import size_of

BLOCK = 4  # readings of which the least makes a floor
FAN = 4  # floors that make one of the next scale
SCALES = 7  # from minutes to weeks, at a reading each few seconds
KEPT = 24  # floors of each scale
NEEDED = 12  # floors from which there is a slope; as many again where the beginning may be among them: a start-up
RISING = 0.75  # of the floors must lie above the one before
STRAIGHT = 0.58  # largest bend; a line has 0.5, what slows down has more, as in `growth`
BENT = 0.56  # bend over a longer time from which a growth is part of a warm-up
MATERIAL = 0.002  # smallest growth, as a share of the level
CERTAIN = 1.645  # standard errors on either side of the slope: nine times in ten
_MOST_SECONDS = 400 * 24 * 3600.0  # what is further off is no forecast


class Outlook(NamedTuple):
    """At this rate the limit is reached in `seconds`, between `soonest_seconds` and `latest_seconds`."""

    limit: str
    limit_bytes: int
    seconds: float
    soonest_seconds: float
    latest_seconds: float
    bytes_a_second: float
    label: str = ""  # of the limit, in a metric

    def __str__(self) -> str:
        soonest, latest = span_of(self.soonest_seconds), span_of(self.latest_seconds)
        within = " (%s – %s)" % (soonest, latest) if soonest != latest else ""
        of = "%s of %s" % (self.limit, size_of(self.limit_bytes))
        return "at this rate the %s is reached in %s%s" % (of, span_of(self.seconds), within)


class Slope(NamedTuple):
    """Bytes a second, with the range that it lies in."""

    least: float
    most_likely: float
    most: float
    since: float = 0.0  # when the growth that it was read from began, as far as is known

    @property
    def doubt(self) -> float:
        """The width of its range, as a share of it."""
        return (self.most - self.least) / self.most_likely


class Floor(NamedTuple):
    """Some readings: the middle of their time, the least, and the highest of the floors in it."""

    seconds: float
    least: float
    peak: float


class Trend:
    """One number of bytes over time: its floors on several scales, in constant memory."""

    __slots__ = ("_begun", "_floors", "_gathered", "_known")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: what was is no part of what will be."""
        self._floors: List[List[Floor]] = [[] for _ in range(SCALES)]
        self._gathered: List[List[Floor]] = [[] for _ in range(SCALES)]
        self._begun = [True] * SCALES  # whether the first of the floors is the first there was
        self._known: Optional[Tuple[Optional[Slope]]] = None

    def update(self, seconds: float, used_bytes: float) -> None:
        """Take one reading."""
        floor = Floor(seconds, used_bytes, used_bytes)
        for scale in range(SCALES):
            gathered = self._gathered[scale]
            gathered.append(floor)
            if len(gathered) < (FAN if scale else BLOCK):
                return
            # At the middle of their time: where the least of them lay by chance is no part of the slope.
            middle = (gathered[0].seconds + gathered[-1].seconds) / 2
            peaks = [one.peak if scale else one.least for one in gathered]
            floor = Floor(middle, min(one.least for one in gathered), max(peaks) if scale else min(peaks))
            gathered.clear()
            floors = self._floors[scale]
            floors.append(floor)
            if len(floors) > KEPT:
                del floors[0]
                self._begun[scale] = False
            self._known = None

    def slope(self) -> Optional[Slope]:
        """How fast it grows now; None while it does not, or it may be a start-up."""
        if self._known is None:
            self._known = (self._find(),)
        return self._known[0]

    def _find(self) -> Optional[Slope]:
        """By the scale that is surest of its slope: under noise a coarse one, after a change a fine one."""
        found: Optional[Slope] = None
        for scale, floors in enumerate(self._floors):
            if self._begun[scale]:
                floors = floors[NEEDED if not scale else len(floors) // 3 :]
            slope = _slope(floors) if len(floors) >= NEEDED else None
            if slope is None or (found is not None and slope.doubt > found.doubt):
                continue
            if not self._has_stopped(scale, slope) and not self._is_part_of_more(scale, floors):
                found = slope
        return found

    def _has_stopped(self, scale: int, slope: Slope) -> bool:
        """Whether this scale, or a finer one that can see it, saw little of that growth of late."""
        return any(_stands(floors, slope.most_likely) for floors in self._floors[: scale + 1] if len(floors) >= NEEDED)

    def _is_part_of_more(self, scale: int, floors: List[Floor]) -> bool:
        """Whether over a longer time it slows down, or has been as high before: a warm-up, a saw-tooth."""
        grown = floors[-1].least - floors[0].least
        for longer in self._floors[scale + 1 : scale + 3]:
            before = [one.peak for one in longer if one.seconds < floors[0].seconds]
            if before and max(before) >= floors[-1].least - 0.1 * grown:
                return True
            values = [one.least for one in longer]
            if len(values) >= 4 and values[-1] - values[0] > 0.5 * grown and _bend(values) > BENT:
                return True
        return False


def _stands(floors: List[Floor], bytes_a_second: float) -> bool:
    """Whether floors that should have risen clearly did not."""
    floors = floors[-NEEDED:]
    expected = bytes_a_second * (floors[-1].seconds - floors[0].seconds)
    steps = [after.least - before.least - expected / (NEEDED - 1) for before, after in zip(floors, floors[1:])]
    scatter = (sum(step * step for step in steps) / len(steps)) ** 0.5
    return floors[-1].least - floors[0].least < 0.25 * expected and expected > 2 * scatter


def _slope(floors: List[Floor]) -> Optional[Slope]:
    """Of floors that rise in a straight line: the median of the slopes of all pairs, and its range (Theil, Sen)."""
    values = [one.least for one in floors]
    grown = values[-1] - values[0]
    rises = sum(after > before for before, after in zip(values, values[1:]))
    if grown <= MATERIAL * abs(values[0]) or rises < RISING * (len(values) - 1) or _bend(values) > STRAIGHT:
        return None
    slopes = sorted(
        (after.least - before.least) / (after.seconds - before.seconds)
        for number, before in enumerate(floors)
        for after in floors[number + 1 :]
        if after.seconds > before.seconds
    )
    if not slopes:
        return None
    count = len(floors)
    apart = CERTAIN * (count * (count - 1) * (2 * count + 5) / 18.0) ** 0.5
    low = max(0, int((len(slopes) - apart) / 2))
    high = min(len(slopes) - 1, int((len(slopes) + apart) / 2 + 1))
    middle = slopes[len(slopes) // 2]
    if middle <= 0 or slopes[low] <= 0:
        return None
    return Slope(slopes[low], middle, slopes[high], floors[0].seconds)


def _bend(values: List[float]) -> float:
    """The area under the growth, as a share of its box."""
    first, grown = values[0], values[-1] - values[0]
    area = sum(value - first for value in values[1:]) - grown / 2
    return area / (grown * (len(values) - 1))


def outlook(limit: str, limit_bytes: int, left_bytes: float, slope: Optional[Slope]) -> Optional[Outlook]:
    """When so much is used up; None while nothing grows, or it is too far off to say."""
    if slope is None or left_bytes < 0:
        return None
    seconds = left_bytes / slope.most_likely
    if seconds > _MOST_SECONDS:
        return None
    latest = min(_MOST_SECONDS, left_bytes / slope.least)
    return Outlook(limit, limit_bytes, seconds, left_bytes / slope.most, latest, slope.most_likely)


def span_of(seconds: float) -> str:
    """A time as a person says it: `3 h 10 min`, `4 h`, `2 days`."""
    minutes = seconds / 60
    if seconds < 90:
        return "%d s" % round(seconds)
    if minutes < 10:
        whole, rest = divmod(int(round(seconds / 10) * 10), 60)
        return "%d min %d s" % (whole, rest) if rest else "%d min" % whole
    if minutes < 90:
        return "%d min" % round(minutes)
    if minutes < 48 * 60:
        whole = round(minutes / 10) * 10 if minutes >= 120 else round(minutes)
        hours, rest = divmod(int(whole), 60)
        return "%d h %d min" % (hours, rest) if rest else "%d h" % hours
    return "%.3g days" % (minutes / 60 / 24)
