"""Every reading at one moment: a plain value, for whatever takes it out of the process."""

from __future__ import annotations

import math
from typing import Mapping, NamedTuple, Optional, Sequence, Tuple

from .memory import Memory
from .model import Finding, Key, Site, Tally, count_of, size_of

_LEAST_MEASURED = 100  # calls: the first ones build and cache, whatever their scatter says


class Calls(NamedTuple):
    """How a model has been called."""

    model: str
    method: str
    calls: int
    measured: int  # calls in stretches between two readings of memory, that no other model's calls overlapped
    grown_bytes: int  # what memory in use gained over the measured ones
    error_bytes: float = math.inf  # one standard error of what a call leaves

    @property
    def per_call(self) -> float:
        """Bytes that a call leaves behind."""
        return self.grown_bytes / self.measured if self.measured else 0.0

    @property
    def leaves(self) -> str:
        """What a thousand calls leave, as a person says it: `1.02 MB ± 40 kB`; nothing where too little is known."""
        if self.measured < _LEAST_MEASURED or math.isinf(self.error_bytes):
            return ""
        sure = abs(self.per_call) > 3 * self.error_bytes
        return "%s ± %s" % (size_of(1000 * self.per_call) if sure else "0 B", size_of(1000 * self.error_bytes))


class Loaded(NamedTuple):
    """A model that is alive."""

    model: str
    variables: int
    weight_bytes: int
    traces: int  # of its functions, as far as these can be told
    grown_bytes: int  # what memory in use gained over its calls since it was first called, where that could be read


class Remains(NamedTuple):
    """A model that has gone, of which variables live on that no living model has."""

    model: str
    site: Site
    variables: int  # that it had
    alive: int
    bytes: int  # of these
    holder: str  # the way to one of them; empty where none was found

    def __str__(self) -> str:
        text = "%s: %s of %s variables still alive" % (self.model, count_of(self.alive), count_of(self.variables))
        return "%s (%s)%s" % (text, size_of(self.bytes), ", held by " + self.holder if self.holder else "")


class Living(NamedTuple):
    """What a report says beside counts: of models, of ages, and of functions in TensorFlow's runtime."""

    calls: Sequence[Calls] = ()
    session_ages: Sequence[Tuple[Site, float]] = ()
    functions: Optional[int] = None  # registered in the runtime
    orphans: Optional[int] = None  # of them, those whose owner in Python has gone
    models: Sequence[Loaded] = ()
    remains: Sequence[Remains] = ()


class Cause(NamedTuple):
    """Why a function was traced again."""

    function: str
    argument: str
    cause: str
    site: Site
    times: int


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
    causes: Sequence[Cause]
    probes: Mapping[str, bool]
    versions: Mapping[str, str]
    own: Own
    gauges: Mapping[str, Mapping[str, float]]  # as in `catalog.GAUGES`: by metric, and by the value of its label
    registered_functions: Optional[int] = None  # in TensorFlow's runtime
    orphan_functions: Optional[int] = None  # of them, those without an owner, as counted last
    operations: Optional[int] = None  # in the graphs that sessions have run
    models: Sequence[Loaded] = ()
    remains: Sequence[Remains] = ()
