"""What a watch can't see, and why: what the headline of a report has to say."""

from __future__ import annotations

import time
from typing import Optional, Sequence

from ..growth.per_call import LEAST_A_CALL, LEAST_CALLS
from ..headline import Growing
from ..probes import PROBES
from ..reports import Calls, OwnCost, level_line
from ..safety import guard
from ..seams import runtime
from ..units import size_of
from .installed import LEFT_OUT
from .state import State

_STALE_SECONDS = 300.0  # as the alert has it
_STALE_LOOKS = 10


def blind(state: State, is_of_block: bool) -> str:
    """Why nobody looks; empty where somebody does. In a block its steps do."""
    level = state.level.now
    if level.name == "off":
        return "the " + level_line(level.name, level.since, level.why)
    silent = time.time() - state.looked_at
    if state.looked_at and not is_of_block and silent > max(_STALE_SECONDS, _STALE_LOOKS * state.config.sample_seconds):
        return "nobody has looked since %s" % time.strftime("%H:%M (%d %b)", time.localtime(state.looked_at))
    return ""


def unwatched(state: State) -> str:
    """Why nothing of TensorFlow's is seen."""
    if not runtime.versions().get("tensorflow"):
        return "TensorFlow has not been imported"
    if not state.probes.up:
        return "no probe is up"
    return ""


def left_out(state: State) -> str:
    """What is seen less closely than it could be."""
    off = sorted(name for name, why in state.probes.off.items() if why == LEFT_OUT)
    parts = ["not watched: %s" % ", ".join(off)] if off and len(off) < len(PROBES) else []
    if state.level.is_lowered:
        parts.append("the level is %s, to stay within the budget" % state.level.name)
    return "; ".join(parts)


def growing_by_calls(rows: Sequence[Calls]) -> Optional[Growing]:
    """The model whose calls leave the most, while these are too few for a finding."""
    leaving = [
        row for row in rows if row.is_sure and row.per_call >= LEAST_A_CALL and row.measured < LEAST_CALLS
    ]  # fmt: skip
    if not leaving:
        return None
    most = max(leaving, key=lambda row: row.per_call)
    what = "each call of %s.%s leaves %s" % (most.model, most.method, size_of(most.per_call))
    return Growing(what, most.measured, LEAST_CALLS, "call")


def own_cost(state: State) -> OwnCost:
    """What the watch itself took, and how it is."""
    ledger, looked_at = state.ledger, state.looked_at or None
    return OwnCost(
        state.own_seconds, ledger.own_bytes, state.looks, looked_at, ledger.folded, dict(guard.failures)
    )  # fmt: skip
