"""Bytes that stay, step by step: readings after collections, and what nearly every stretch between them adds. Pure."""

from __future__ import annotations

from typing import Collection, List, Mapping, NamedTuple, Optional

from ..model import Key, Tally

STRETCHES = 4  # between readings; a collection for each is what this costs


class Reading(NamedTuple):
    """What there was after a collection, when so many steps were counted."""

    steps: int
    held_bytes: Optional[int]
    tallies: Mapping[Key, Tally]


class Readings:
    """Some readings, evenly spread over any number of steps."""

    def __init__(self, first: Reading, expected_steps: int = 0) -> None:
        self._every = max(1, -(-expected_steps // STRETCHES)) if expected_steps else 4
        self.kept: List[Reading] = [first]

    def is_due(self, steps: int) -> bool:
        """Whether one is to be taken now."""
        return steps % self._every == 0 and steps > self.kept[-1].steps

    def add(self, reading: Reading) -> None:
        """Take one; of many each second one goes."""
        self.kept.append(reading)
        if len(self.kept) > 2 * STRETCHES + 2:
            del self.kept[1::2]
            self._every *= 2

    def middle(self) -> Optional[Reading]:
        """The one in the middle; None where there is none between the ends."""
        half = self.kept[-1].steps / 2
        between = self.kept[1:-1]
        return min(between, key=lambda one: abs(one.steps - half)) if between else None


def per_step(readings: List[Reading], stopped: Collection[Key] = ()) -> Optional[float]:
    """Bytes that stay of each step: as many as nearly every stretch adds. None where that can't be told.

    What leaks adds to each stretch. A cache that is made once, a block of a table, our own notes: these add to one or
    two of them. Of counts that have `stopped`, such as the traces of a set of shapes, the bytes have a name: stretches
    in which they grew say nothing.
    """
    stretches = [(old, new) for old, new in zip(readings, readings[1:]) if new.steps > old.steps]
    told = [(old, new) for old, new in stretches if not any(_grew(key, old, new) for key in stopped)]
    if len(told) < min(2, len(stretches)):
        return None
    rates = [
        (new.held_bytes - old.held_bytes) / (new.steps - old.steps)
        for old, new in told
        if new.held_bytes is not None and old.held_bytes is not None
    ]
    return sorted(rates)[1 if len(rates) >= 4 else 0] if rates else None


def _grew(key: Key, old: Reading, new: Reading) -> bool:
    was, now = old.tallies.get(key), new.tallies.get(key)
    return now is not None and now.alive > (was.alive if was is not None else 0)
