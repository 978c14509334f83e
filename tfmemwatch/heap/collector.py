"""Garbage collections that the watch asks for: none that would stop the program for long, nor where it has its own way.

A full collection can't be cut: TensorFlow's objects alone take some 0.1 s. Where it would take too long, what is young
is collected, and the program's own full collections are waited for.
"""

from __future__ import annotations

import gc
import time

from .one_call import HOLD_SECONDS
from .room import heap_size

_YOUNG = 100000  # objects that are collected at once where a full collection takes too long
_MOST_SECONDS = HOLD_SECONDS / 2  # that one of ours may be expected to take: it is no more than a guess
_SECONDS_AN_OBJECT = 4e-7  # as measured; each collection of ours says it anew


class Pace:
    """How long a full collection takes, for each object."""

    seconds_an_object = _SECONDS_AN_OBJECT


def expected_seconds() -> float:
    """How long a full collection would stop the program; endless where that can't be told."""
    objects = heap_size.objects
    return objects * Pace.seconds_an_object if objects else float("inf")


def collect(asked: bool = False) -> bool:
    """Collect; True where it was a full collection. One that a person has asked for may take its time."""
    if not asked and not gc.isenabled():  # the program has turned it off, and knows why
        return False
    if asked or expected_seconds() <= _MOST_SECONDS:
        _collect_all()
        return True
    collect_young()
    return False


def collect_young() -> None:
    """Collect what is young, where that is not too much at once."""
    young, middle = gc.get_count()[:2]
    if gc.isenabled() and young + middle * gc.get_threshold()[0] <= _YOUNG:
        gc.collect(1)


def _collect_all() -> None:
    began = time.thread_time()
    gc.collect()
    objects = heap_size.objects
    if objects is not None and objects > 50000:
        Pace.seconds_an_object = (time.thread_time() - began) / objects


def full_collections() -> int:
    """How many full collections there have been, whoever asked for them."""
    return int(gc.get_stats()[-1]["collections"])
