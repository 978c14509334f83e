"""Why functions were traced again: counted by line, function and argument."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Deque, Dict, Hashable, List, NamedTuple, Optional, Tuple

from ..ledger.counts import Place, site_of
from ..ledger.site import SKIP, class_of
from ..model import Site
from ..safety.turn import WAIT_SECONDS, Turn
from ..seams.functions import Traced
from .arguments import Trace
from .baked_in import BakedIn, State
from .parameters import computed_with, kept_plain
from .rewrites import LAMBDA, Rewrite, Target, rewrite
from .signatures import Difference, Signature, key_of, nearest

_MOST_EARLIER = 16  # traces of a function with which a new one is compared, besides its first
_STREAK = 4
_FEW = 3  # earlier traces, with which one more is compared at once
_MOST_WAITING = 128  # traces that wait to be compared before whoever adds one compares
_MOST_LINES = 400
_MOST_CAUSES = 40  # of one function at one line; further ones are counted as «other»
_SHARE = 0.2  # of the traces that a cause must have made, to be told in a label
_MOST_KEPT = 128  # signatures of one function, for what is to be written instead
_ENDLESS = 12  # traces from which it is sure that they never end, where what differs has no end
_ENDLESS_SHARE = 0.8  # of all traces
_STORM = _MOST_KEPT  # traces in a row that differed in the same


class TraceHistory:
    """The traces of one function that are remembered."""

    __slots__ = ("asked", "count", "earlier", "first", "function", "is_told", "last", "own", "state", "streak", "usual")

    def __init__(self, function: Traced) -> None:
        self.count = 0  # of traces there have been
        self.function = function
        self.usual: Tuple[Hashable, ...] = ()  # in what its traces differ, as it was the last time
        self.streak = 0  # how often that has been the same
        self.last: List[Difference] = []  # in what the latest that was looked at differed
        self.state: State = ()  # that one of its first traces read
        self.own: List[BakedIn] = []  # what its first trace changed itself
        self.is_told = False  # that there have been too many
        self.first: Optional[Signature] = None
        self.earlier: Deque[Signature] = deque(maxlen=_MOST_EARLIER)
        self.asked: OrderedDict[Hashable, Signature] = OrderedDict()  # for, in the order of their traces

    @property
    def passes(self) -> bool:
        """Whether the next trace may go for one like those before: of a storm of the same, one of four is looked at."""
        return self.streak >= _STORM and self.count & 3 != 0

    def reasons_for(self, trace: Trace) -> List[Difference]:
        """In what a trace differs from the nearest earlier one; it is one of them from now on."""
        first = [self.first] if self.first is not None else []
        found = self._nearest(trace.asked, [*reversed(self.earlier), *first]) if first else []
        if self.first is None:
            self.first = trace.made
        else:
            self.earlier.append(trace.made)
        if len(self.asked) < _MOST_KEPT:
            key = (tuple((name, key_of(node)) for name, node in trace.asked.arguments), trace.asked.context)
            self.asked.setdefault(key, trace.asked)
        return found

    def _nearest(self, asked: Signature, earlier: List[Signature]) -> List[Difference]:
        """Where it was the same again and again, the latest is asked first, and the others only if it is another."""
        if self.streak >= _STREAK:
            found = nearest(asked, earlier[:1])
            if tuple(one.key for one in found) == self.usual:
                self.streak += 1
                return found
        found = nearest(asked, earlier)
        keys = tuple(one.key for one in found)
        self.streak = self.streak + 1 if keys == self.usual else 0
        self.usual = keys
        return found


class Count:
    """How often the same has happened, and its last instance."""

    __slots__ = ("differences", "times")

    def __init__(self, differences: Tuple[Difference, ...]) -> None:
        self.differences = differences
        self.times = 0


class ReasonCounts:
    """Why one function was traced from one line."""

    def __init__(self, function: str, history: TraceHistory) -> None:
        self.function = function
        self.history = history  # of the function that was traced last
        self.traces = 0  # beyond the first of each function
        self.firsts = 0  # of functions: more than one of the same name are made anew
        self.other = 0
        self.tried = 0  # signatures with which the code was tried
        self.better: Optional[Rewrite] = None
        self.counts: Dict[Hashable, Count] = {}

    def add(self, differences: List[Difference]) -> None:
        """Count one trace that was not the first."""
        self.traces += 1
        key = tuple(difference.key for difference in differences)
        count = self.counts.get(key)
        if count is None:
            if len(self.counts) >= _MOST_CAUSES:
                self.other += 1
                return
            count = self.counts[key] = Count(tuple(differences))
        count.times += 1
        count.differences = tuple(differences)

    @property
    def is_endless(self) -> bool:
        """Whether it was traced a dozen times for what has no end, and for little else.

        A shape, a number of things and an object of the program's may come from a set that is soon complete.
        """
        endless = sum(count.times for count in list(self.counts.values()) if any(map(_has_no_end, count.differences)))
        return endless >= max(_ENDLESS, _ENDLESS_SHARE * self.traces)

    @property
    def sorted(self) -> List[Count]:
        """What happened most often first."""
        return sorted([*self.counts.values()], key=lambda count: -count.times)


class Why(NamedTuple):
    """Why a function was traced so often, as a person would say it."""

    text: str
    examples: Tuple[str, ...] = ()
    differs: str = ""  # what a label may say: the two things that differ most often, of arguments the name alone


def _has_no_end(difference: Difference) -> bool:
    """A Python float that was never seen before, a NaN, or what is made anew for the call."""
    return difference.cause in ("nan", "method", "copy") or (difference.cause, difference.what) == ("value", "float")


def _argument(difference: Difference) -> str:
    """Its name alone: what its parts are called may be the user's data."""
    return difference.path.split("[")[0].split(".")[0]


class _Waiting(NamedTuple):
    history: TraceHistory
    place: Place
    function: str
    trace: Optional[Trace]  # none where it goes for one like the last
    is_first: bool


class Reasons:
    """Takes traces in the program's threads, and compares them when it is asked."""

    def __init__(self) -> None:
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything: for the child of a fork."""
        self._lock = Turn()  # to compare; never waited for by a hook
        self._waiting: Deque[_Waiting] = deque(maxlen=4 * _MOST_WAITING)
        self._accounts: Dict[Tuple[Site, str], ReasonCounts] = {}

    def traced(
        self, history: TraceHistory, place: Place, function: str, trace: Optional[Trace], is_first: bool
    ) -> None:
        """Take one trace; waits for nobody. What is soon compared does not stay: its function may soon be gone."""
        one = _Waiting(history, place, function, trace, is_first)
        if len(history.earlier) < _FEW and not self._waiting and self._lock.take(lambda: self._count(one), 0):
            return
        self._waiting.append(one)
        if len(self._waiting) > _MOST_WAITING:
            self.compare_waiting(wait=False)

    def compare_waiting(self, wait: bool = True) -> None:
        """Compare all that waits; nothing where this thread is at it already."""
        self._lock.take(self._compare, WAIT_SECONDS if wait else 0)

    def _compare(self) -> None:
        waiting = self._waiting
        for _ in range(len(waiting)):
            self._count(waiting.popleft())

    def _count(self, one: _Waiting) -> None:
        history = one.history
        if one.trace is not None:
            history.last = history.reasons_for(one.trace)
        found = history.last
        key = (site_of(one.place), one.function)
        account = self._accounts.get(key)
        if account is None:
            if len(self._accounts) >= _MOST_LINES:
                return
            account = self._accounts[key] = ReasonCounts(one.function, one.history)
        account.history = one.history
        if one.is_first:
            account.firsts += 1
        else:
            account.add(found or [Difference("", "nothing")])

    def causes(self) -> List[Tuple[str, str, str, Site, int]]:
        """Function, argument, cause and line of what made traces anew, and how often; of arguments the name alone."""
        counts = [
            (account.function, site, count.differences[0], count.times)
            for (site, _), account in list(self._accounts.items())
            for count in list(account.counts.values())
            if count.differences
        ]
        return [(function, _argument(one), one._replace(path="").said(), site, times)
                for function, site, one, times in counts]  # fmt: skip

    def endless(self) -> List[Site]:
        """Lines that trace a function again and again for what has no end."""
        return [site for (site, _), account in list(self._accounts.items()) if account.is_endless]

    def account(self, site: Site) -> Optional[ReasonCounts]:
        """The function that was traced most often from a line."""
        self.compare_waiting()
        found = [account for (at, _), account in list(self._accounts.items()) if at == site]
        return max(found, key=lambda account: account.traces, default=None)

    def together(self, history: TraceHistory) -> ReasonCounts:
        """Why one function was traced, from whatever line."""
        self.compare_waiting()
        found = [account for account in list(self._accounts.values()) if account.history is history]
        whole = ReasonCounts(found[0].function if found else history.function.name, history)
        for account in found:
            whole.traces += account.traces
            whole.other += account.other
            for key, count in list(account.counts.items()):
                same = whole.counts.setdefault(key, Count(count.differences))
                same.times += count.times
        return whole


def why(account: ReasonCounts, what: str = "trace", most: int = 4) -> Why:
    """«57 traces of `step`: `lr` a new Python float each time (55), `x` a new batch size (2)»."""
    if not account.traces:
        return Why("")
    counts = account.sorted
    told = counts[:most]
    parts = []
    for count in told:
        said = " and ".join(one.said(count.times) for one in count.differences[:3])
        more = len(count.differences) - 3
        if more > 0:
            said += " and %d more" % more
        parts.append("%s (%d)" % (said, count.times))
    rest = sum(count.times for count in counts[most:]) + account.other
    if rest:
        parts.append("other reasons (%d)" % rest)
    examples = [one.example for count in told for one in count.differences[:3]]
    return Why(
        "%d %s%s of `%s`: %s"
        % (account.traces, what, "" if account.traces == 1 else "s", account.function, ", ".join(parts)),
        tuple(dict.fromkeys(filter(None, examples))),
        _differs(account, told[:2]),
    )


def _differs(account: ReasonCounts, counts: List[Count]) -> str:
    often = [count.differences[0] for count in counts if count.differences and count.times >= _SHARE * account.traces]
    return ", ".join(sorted({one._replace(path=_argument(one)).said(account.traces) for one in often}))


def instead(account: ReasonCounts) -> Optional[Rewrite]:
    """Code for the function that was traced so often, tried on what it was traced for."""
    function, seen = account.history.function, list(account.history.asked.values())
    if not function.name.isidentifier() and function.name != LAMBDA:
        return None
    if class_of(function.line[0]) == SKIP:
        return None  # a function of Keras's is not theirs to write
    if account.tried != len(seen):  # as long as nothing new was asked for, the answer is the same
        account.tried = len(seen)
        target = Target(
            function.name, function.parameters, function.relax, function.is_method, function.options,
            computed_with(*function.line), kept_plain(*function.line, "autograph=False" not in function.options),
            function.declared, function.rest,
        )  # fmt: skip
        account.better = rewrite(target, seen, len(seen) < _MOST_KEPT)
    return account.better
