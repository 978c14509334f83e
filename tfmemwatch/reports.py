"""Everything that is known, as plain values: a report for people, a sample for metrics."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from .explain.baked_in import BakedIn
from .explain.excerpts import Excerpt
from .growth.memory_verdict import Verdict
from .headline import NOTHING_READ, Headline
from .memory.account import Account
from .memory.forecast import Outlook
from .memory.limits import Limit
from .memory.process import Memory
from .model import Finding, Key, Site, Tally
from .units import count_of, size_of

SCHEMA = 1  # of `Report.as_dict`: one more where a name goes or gets another meaning
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
    def is_sure(self) -> bool:
        """Whether a call leaves something, or takes something away, beyond doubt."""
        return self.measured >= _LEAST_MEASURED and abs(self.per_call) > 3 * self.error_bytes

    @property
    def per_call(self) -> float:
        """Bytes that a call leaves behind."""
        return self.grown_bytes / self.measured if self.measured else 0.0

    @property
    def leaves(self) -> str:
        """What a thousand calls leave, as a person says it: `1.02 MiB ± 40 KiB`; nothing where too little is known."""
        if self.measured < _LEAST_MEASURED or math.isinf(self.error_bytes):
            return ""
        return "%s ± %s" % (size_of(1000 * self.per_call) if self.is_sure else "0 B", size_of(1000 * self.error_bytes))


class LivingModel(NamedTuple):
    """A model that is alive."""

    model: str
    variables: int
    weight_bytes: int
    traces: int  # of its functions, as far as these can be told
    grown_bytes: int  # what memory in use gained over its calls since it was first called, where that could be read


class LeftOfModel(NamedTuple):
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


class RetraceCause(NamedTuple):
    """Why a function was traced again."""

    function: str
    argument: str
    cause: str
    site: Site
    times: int


class OwnCost(NamedTuple):
    """What the watch itself took, and how it is."""

    seconds: float
    bytes: int
    looks: int
    looked_at: Optional[float]  # time.time() of the last look
    folded: int
    failures: Mapping[str, int]


class LevelNow(NamedTuple):
    """How closely the watch looks now."""

    name: str
    because: str  # "set": by whoever runs it; "budget": its hooks took more than they may
    why: str  # in words, where it is the budget
    since: float  # time.time()

    def __str__(self) -> str:
        return level_line(self.name, self.since, self.why)


def level_line(name: str, since: float, why: str = "") -> str:
    """`level is counts since 14:02, because its hooks took 1.4 % of the time and may take 1 %`."""
    at = time.strftime("%H:%M", time.localtime(since))
    return "level is %s since %s%s" % (name, at, ", because " + why if why else "")


class Made(NamedTuple):
    """What was made at one line, freed, and is still alive."""

    kind: str
    site: Site
    made: int
    freed: int
    bytes: int  # of what is alive

    @property
    def alive(self) -> int:
        """How many more there are."""
        return self.made - self.freed


class Traced(NamedTuple):
    """How often a function was traced from one line."""

    function: str
    site: Site
    is_retrace: bool  # not the first trace of each function
    times: int
    seconds: float
    bytes: int


class Built(NamedTuple):
    """What XLA has built for a function."""

    function: str
    site: Site
    builds: int
    traces: int  # it was built for: those from this line, else all of the function's name
    seconds: float
    bytes: int


class OpenSessions(NamedTuple):
    """Sessions of one line that are open."""

    site: Site
    open: int
    oldest_seconds: float


class Moment(NamedTuple):
    """One point of the history."""

    at: float  # seconds since the watch began, or the step of a block: `Report.history_in`
    resident_bytes: Optional[int]
    in_use_bytes: Optional[int]
    alive: Mapping[str, int]  # by kind
    kept_bytes: Optional[int] = None  # by malloc, free
    python_blocks: int = 0
    variables_bytes: int = 0


class Program(NamedTuple):
    """Which process it is: of many workers one answers."""

    pid: int
    host: str
    name: str  # of its script
    began: float  # time.time() when the watch began
    note: str = ""  # where it answers for others, too


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """Everything that is known of a process, or of a block; what was before it, is since it began."""

    title: str
    seconds: float  # time.time() when it was made
    findings: Tuple[Finding, ...]
    memory: Memory
    headline: Headline = NOTHING_READ  # what all of this comes to
    memory_before: Optional[Memory] = None
    account: Optional[Account] = None  # whose bytes these are, where it was asked for
    account_before: Optional[Account] = None
    verdict: Optional[Verdict] = None  # what became of memory
    made: Tuple[Made, ...] = ()  # what stays first
    traces: Tuple[Traced, ...] = ()  # the most first
    builds: Tuple[Built, ...] = ()
    retrace_causes: Tuple[RetraceCause, ...] = ()
    baked_in: Tuple[BakedIn, ...] = ()  # Python's state in traces, where it was asked for
    functions: Optional[int] = None  # in TensorFlow's runtime
    orphan_functions: Optional[int] = None  # of them, those whose owner in Python has gone
    sessions: Tuple[OpenSessions, ...] = ()
    calls: Tuple[Calls, ...] = ()
    models: Tuple[LivingModel, ...] = ()
    left_of_models: Tuple[LeftOfModel, ...] = ()
    limits: Tuple[Limit, ...] = ()  # the one with the least left first
    outlook: Optional[Outlook] = None  # when one of them is reached
    rise: str = ""  # how fast memory grows, and since when
    history: Tuple[Moment, ...] = ()
    history_in: str = "seconds"  # since the watch began, or "steps" of a block
    sources: Tuple[Excerpt, ...] = ()  # the lines around those of the findings
    program: Optional[Program] = None
    off: Mapping[str, str] = dataclasses.field(default_factory=dict)  # what is not watched, and why
    level: str = ""
    level_since: Optional[float] = None  # time.time()
    level_why: str = ""  # where the budget has lowered it
    own: Optional[OwnCost] = None
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_of_block: bool = False

    @property
    def limit(self) -> Optional[Limit]:
        """The limit with the least left."""
        return self.limits[0] if self.limits else None

    def __repr__(self) -> str:
        return "<report %s, %s findings>" % (self.title, len(self.findings))

    def as_dict(self) -> Dict[str, Any]:
        """The same for JSON: dicts, lists, texts, numbers and None; `schema` says which names there are."""
        names = [field.name for field in dataclasses.fields(Report)]
        return {"schema": SCHEMA, **{name: plain(getattr(self, name)) for name in names}}


class Sample(NamedTuple):
    """Every reading at one moment, for what is exported."""

    tallies: Mapping[Key, Tally]
    memory: Memory
    findings: Tuple[Finding, ...]
    session_ages: Sequence[Tuple[Site, float]]
    calls: Sequence[Calls]
    causes: Sequence[RetraceCause]
    probes: Mapping[str, bool]
    versions: Mapping[str, str]
    own: OwnCost
    gauges: Mapping[str, Mapping[str, float]]  # as in `catalog.GAUGES`: by metric, and by the value of its label
    registered_functions: Optional[int] = None  # in TensorFlow's runtime
    orphan_functions: Optional[int] = None  # of them, those without an owner, as counted last
    operations: Optional[int] = None  # in the graphs that sessions have run
    models: Sequence[LivingModel] = ()
    left_of_models: Sequence[LeftOfModel] = ()
    level: Optional[LevelNow] = None
    headline: Headline = NOTHING_READ
    filling: Tuple[Finding, ...] = ()  # what grows and may still be filling: no leak yet


_AS_THEY_ARE = frozenset(map(id, (type(None), bool, int, str)))


def plain(value: Any) -> Any:
    """A value as JSON has it: a number that is none of JSON's is None."""
    if id(type(value)) in _AS_THEY_ARE:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Report):
        return value.as_dict()
    if hasattr(value, "_fields"):
        return {name: plain(one) for name, one in zip(value._fields, value)}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    return value if isinstance(value, (int, str)) else str(value)
