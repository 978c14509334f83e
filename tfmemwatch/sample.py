"""Every reading at one moment: a plain value, for whatever takes it out of the process."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional, Sequence, Tuple

from .memory import Memory
from .model import Finding, Key, Site, Tally


class Calls(NamedTuple):
    """How a model has been called."""

    model: str
    method: str
    calls: int
    measured: int  # calls whose memory was read before and after, and that nothing overlapped
    grown_bytes: int  # what resident memory gained over the measured ones


class Own(NamedTuple):
    """What the watch itself took, and how it is."""

    seconds: float
    bytes: int
    looks: int
    looked_at: Optional[float]  # time.time() of the last look
    folded: int
    failures: Mapping[str, int]


class Sample(NamedTuple):
    """All that is known at one moment; holds nothing of the program's alive."""

    tallies: Mapping[Key, Tally]
    memory: Memory
    findings: Tuple[Finding, ...]
    session_ages: Sequence[Tuple[Site, float]]
    calls: Sequence[Calls]
    probes: Mapping[str, bool]
    versions: Mapping[str, str]
    own: Own
    gauges: Mapping[str, Mapping[str, float]]  # as in `catalog.GAUGES`: by metric, and by the value of its label
    registered_functions: Optional[int] = None  # in TensorFlow's runtime
