"""What the judge reads from the ledger's tallies: values, clocks, order and bytes."""

from __future__ import annotations

from typing import Iterable, Mapping, Tuple

from ..model import UNKNOWN, Key, Tally
from .stories import EXPLAINS, TAKES_MEMORY
from .tracks import CLOCKS, Track

_MADE = {"model": "model_made", "optimizer": "optimizer_made"}  # births alone, whether or not they die

_KERNEL_BYTES = 36000  # of one cached kernel, as measured
_ESTIMATES = {
    "name": _KERNEL_BYTES,
    "seed": _KERNEL_BYTES,
    "queue": _KERNEL_BYTES,
    "pyfunc_token": _KERNEL_BYTES,
}


def values_in(tallies: Mapping[Key, Tally]) -> Iterable[Tuple[Key, float]]:
    for key, tally in tallies.items():
        if key.kind in TAKES_MEMORY:
            yield key, float(tally.born - tally.died)
        made = _MADE.get(key.kind)
        if made is not None:
            yield Key(made, key.site), float(tally.born)
        elif key.kind in EXPLAINS:
            yield key, float(tally.born)


def clock_of(key: Key, tallies: Mapping[Key, Tally]) -> float:
    """How often the program has done what this growth may come from."""
    kind = CLOCKS.get(key.kind)
    if kind is None:
        return 0.0
    tally = tallies.get(Key(kind, key.site if kind == "call" else UNKNOWN))
    return float(tally.born) if tally is not None else 0.0


def counted_as(key: Key) -> Key:
    """The account that a track was read from."""
    for kind, made in _MADE.items():
        if key.kind == made:
            return Key(kind, key.site)
    return key


def order_of(key: Key, tallies: Mapping[Key, Tally]) -> int:
    tally = tallies.get(counted_as(key))
    return tally.order if tally is not None else 0


def bytes_of(track: Track, tallies: Mapping[Key, Tally]) -> int:
    return bytes_in(track.key, tallies)


def bytes_in(of: Key, tallies: Mapping[Key, Tally]) -> int:
    """What is kept of one account, as far as known."""
    tally = tallies.get(counted_as(of))
    if tally is None:
        return 0
    each = _ESTIMATES.get(of.kind)
    if each is not None:
        return each * tally.alive
    if of.kind == "function_graph":
        return sum(tallies[key].bytes for key in (Key("trace", of.site), Key("retrace", of.site)) if key in tallies)
    return max(0, tally.live_bytes)
