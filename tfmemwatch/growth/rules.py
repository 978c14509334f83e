"""How much evidence each kind of series needs before it is called a leak: a table."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """How much evidence one kind of series needs."""

    block: int  # samples that make a floor
    combine: str = "min"  # of four floors, for the next scale: "min" for exact counts, "mean" for noisy bytes
    scales: int = 7  # lengths of floor, each four times the one before
    rises: int = 64  # fewest rises at the finest scale
    coarse_rises: int = 22  # fewest rises at all other scales
    apart: float = 1e8  # samples without growth that pass, at least, for each false alarm
    straight: float = 0.52  # largest bend of a leak; a line has 0.5, what slows down has more
    bent: float = 0.65  # bend from which the older half of an episode is forgotten
    material: float = 0.0  # smallest growth, as a share of the level
    clear: float = 0.0  # smallest growth, in standard deviations of the rises
    daily: bool = False  # may swing with the hours: wait, and compare days, where a day's length is known
    again: float = 1.0  # a growth that looked bent is looked at again when it has so many times as many rises
    straighten: float = 0.0  # times that what bent must stay straight for, as long as it bent, to be believed
    recent: int = 0  # floors between marks from which a growth may start inside an older one; 0: no marks

    @property
    def fewest(self) -> int:
        """Samples before which nothing is called a leak."""
        return self.block * self.rises


# A service: silence counts for more than speed, and what has once bent must stay straight for long.
COUNT_SAMPLES = Rule(block=4, coarse_rises=28, again=1.125, straighten=2.0)

# A loop with explicit steps: it ends soon, so speed counts, also after a warm-up.
COUNT_STEPS = Rule(block=1, rises=32, apart=1e6, recent=8)

# Births less deaths at one line: nothing else moves it, so less evidence will do.
COUNT_EVENTS = Rule(block=4, rises=28, apart=1e7, again=1.125, straighten=2.0)

# The same by the clock, at a look each five seconds: longer than a start-up of ten minutes.
COUNT_STEADY = COUNT_EVENTS._replace(rises=35)

# The same where memory ends soon: there is time for a few things only, and what it finds must also have used up much.
COUNT_URGENT = COUNT_EVENTS._replace(block=2, rises=20, coarse_rises=20, apart=7e5)

# Bytes of a service: noise all the time, and a swing each day.
BYTE_SAMPLES = Rule(block=8, combine="mean", rises=32, bent=0.56, straighten=1.0, material=0.02, daily=True)

# Bytes in a loop: a step's growth is nothing to the level, so it is measured by the scatter.
BYTE_STEPS = Rule(block=2, combine="mean", rises=28, apart=1e7, clear=8.0)
