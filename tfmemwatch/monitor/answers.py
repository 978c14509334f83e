"""What one can ask of a watch: what leaks, what there is, whose bytes these are. Each answer is a plain value."""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..explain.baked_in import BakedIn
from ..explain.excerpts import excerpts
from ..growth.memory_verdict import Verdict
from ..headline import NOT_WATCHED, NOTHING_READ, Headline, Known, Looked, headline
from ..heap.classes import ids_of
from ..heap.instances import references_to
from ..heap.room import heap_size
from ..memory import account, object_weights
from ..memory.account import Account
from ..memory.process import Memory, Process
from ..model import Finding, Key, Tally
from ..probes import PROBES
from ..reports import Calls, Moment, Program, Report, RetraceCause, Sample
from ..safety import guard
from ..seams import places, runtime
from . import rows
from .explaining import Explanations
from .snapshot import Snapshot, clock
from .state import State
from .what_is_seen import blind, growing_by_calls, left_out, own_cost, unwatched

_MOST_ROWS = 100  # of each table of the page: who has more reads the report
_TABLES = ("made", "traces", "builds", "retrace_causes", "sessions", "calls", "models", "left_of_models")


class Counted(NamedTuple):
    """One end of a report: what was counted and held then."""

    tallies: Mapping[Key, Tally]
    memory: Memory
    account: Optional[Account] = None


class Seen(NamedTuple):
    """What looking has come to, for the whole process or for a block."""

    findings: Tuple[Finding, ...]
    verdict: Verdict
    moments: Tuple[Moment, ...]
    looked: Looked


class Answers:
    """Puts together what the parts of a watch know."""

    def __init__(
        self, state: State, explanations: Explanations, seen: Callable[[], Seen], open_ones: Callable[[], List[Finding]]
    ) -> None:  # fmt: skip
        self._state = state
        self._explanations = explanations
        self._seen = seen  # in the whole process
        self._open = open_ones  # the findings of it alone, for who asks again and again
        self._rows = rows.KeptRows()

    # -- reports

    def findings(self) -> List[Finding]:
        """What leaks now."""
        return self._explanations.with_outlook(list(self._open()))

    def snapshot(self, owners: bool = False) -> Snapshot:
        """Everything at this moment; with whose bytes these are, if that is asked for."""
        self.look_at_models(asked=True)
        now = Counted(self._state.read(), self._state.process.read())
        if owners:
            now = now._replace(account=self.account())
        seen = self._seen()._replace(findings=tuple(self.findings()))
        return self._built("as of %s" % clock(time.time()), None, now, seen)

    def report(self) -> Report:
        """Everything at this moment, with whose bytes these are and what is baked into traces."""
        return dataclasses.replace(self.snapshot(owners=True), baked_in=tuple(self.baked_in()))

    def of_block(
        self, title: str, before: Counted, after: Counted, seen: Seen, *, in_steps: bool = False
    ) -> Report:  # fmt: skip
        """What has happened since the block began."""
        self.look_at_models(asked=True)
        report = dataclasses.replace(self._built(title, before, after, seen), limits=tuple(self._state.ahead.now()))
        return dataclasses.replace(report, history_in="steps") if in_steps else report

    def light_report(self) -> Report:
        """For a page that is asked for again and again: what is known without looking through the heap.

        It waits for no look: where one is under way, counts are those of the last.
        """
        state = self._state
        state.probes.reading.take(state.probes.read, 0)
        tallies, memory = state.ledger.read(), state.process.read()
        now = Counted(tallies, memory, self.light_account(tallies, memory=memory))
        seen = self._seen()._replace(findings=tuple(self.findings()))
        report = self._built("as of %s" % clock(time.time()), None, now, seen, is_light=True)
        return dataclasses.replace(report, **{name: getattr(report, name)[:_MOST_ROWS] for name in _TABLES})

    def looked(self) -> Tuple[object, ...]:
        """Another value after each look: what was read before is no longer new."""
        state = self._state
        return (os.getpid(), state.began, state.looks, state.looked_at, state.level.name)

    def news(self) -> Tuple[object, ...]:
        """Another value when what leaks is another, or who watches: what a page shows at once."""
        state = self._state
        findings = tuple([(one.story, one.state) for one in self._open()])
        return (os.getpid(), state.began, state.level.name, findings)

    def _built(
        self, title: str, before: Optional[Counted], after: Counted, seen: Seen, *, is_light: bool = False
    ) -> Snapshot:  # fmt: skip
        """The one place where a report is made."""
        state = self._state
        then = before.tallies if before is not None else {}
        functions, orphans = (runtime.registered_functions(), None) if is_light else self.functions()
        made, traces, builds = rows.all_of(then, after.tallies) if then else self._rows.of(after.tallies)
        level = state.level.now
        return Snapshot(
            title=title, seconds=time.time(), findings=seen.findings, verdict=seen.verdict, history=seen.moments,
            memory=after.memory, memory_before=before.memory if before is not None else None,
            account=after.account, account_before=before.account if before is not None else None,
            made=made, traces=traces, builds=builds, retrace_causes=tuple(self.retrace_causes()),
            functions=functions, orphan_functions=orphans,
            sessions=rows.open_sessions(state.ledger.ages("session")), calls=tuple(self.calls()),
            models=tuple(state.models.alive), left_of_models=tuple(state.models.left),
            limits=tuple(state.ahead.limits), outlook=self._explanations.outlook(), rise=self._explanations.rise(),
            off=dict(state.probes.off), level=level.name, level_since=level.since, level_why=level.why,
            own=own_cost(state), versions=_versions(), is_of_block=before is not None, tallies=after.tallies,
            sources=excerpts((one.site for one in seen.findings), state.began), program=program(state.began),
            headline=self._headline(seen, is_of_block=before is not None),
        )  # fmt: skip

    def _headline(self, seen: Seen, is_of_block: bool = False) -> Headline:
        """What all of it comes to."""
        try:
            return headline(self._known(seen, is_of_block))
        except Exception:
            guard.failed("headline")
            return NOTHING_READ

    def _known(self, seen: Seen, is_of_block: bool) -> Known:
        looked = seen.looked
        if looked.growing is None:
            looked = looked._replace(growing=growing_by_calls(self.calls()))
        state, rises = self._state, (self._explanations.rise(), self._explanations.outlook())
        return Known(
            findings=seen.findings, looked=looked, memory=seen.verdict,
            ahead="" if is_of_block else "; ".join(str(one) for one in rises if one),
            blind=blind(state, is_of_block), unwatched=unwatched(state), besides=left_out(state),
        )  # fmt: skip

    def sample(self, wait_seconds: float = 1.0) -> Optional[Sample]:
        """Everything at this moment, for what is exported; None where a look that is under way takes longer."""
        state = self._state
        if not state.probes.reading.take(state.probes.read, wait_seconds):
            return None
        up = {probe.name for probe in state.probes.up}
        findings = self.findings()
        return Sample(
            tallies=state.ledger.read(), memory=state.process.read(),
            findings=tuple(one for one in findings if one.is_sure),
            filling=tuple(one for one in findings if not one.is_sure),
            session_ages=state.ledger.ages("session"), calls=self.calls(), causes=self.retrace_causes(),
            probes={kind.name: kind.name in up for kind in PROBES}, versions=runtime.versions(),
            own=own_cost(state), gauges=self._gauges(), registered_functions=runtime.registered_functions(),
            operations=state.probes.operations(), models=state.models.alive, left_of_models=state.models.left,
            level=state.level.now, headline=self._headline(self._seen()),
        )  # fmt: skip

    # -- of the program

    def look_at_models(self, asked: bool = False) -> Sequence[Any]:
        """What models have, and what is left of those that have gone; what comes back is new."""
        try:
            return self._state.models.look(asked)
        except Exception:
            guard.failed("living models")
            return ()

    def retrace_causes(self) -> List[RetraceCause]:
        """Why functions were traced again, counted."""
        return self._state.probes.ask(lambda probe: probe.retrace_causes())

    def calls(self) -> List[Calls]:
        """How each living model has been called."""
        return self._state.probes.ask(lambda probe: probe.calls())

    def baked_in(self) -> List[BakedIn]:
        """What traces hold on to: Python state that has changed since, and large data baked in as constants."""
        try:
            return self._state.probes.ask(lambda probe: probe.baked_in())
        except Exception:
            guard.failed("baked in")
            return []

    def functions(self) -> Tuple[Optional[int], Optional[int]]:
        """How many are in TensorFlow's runtime, and how many of them have lost their owner; looks through the heap."""
        names = runtime.function_names()
        if names is None:
            return None, None
        if not places.has("registered_function") or heap_size.too_large():
            return len(names), None
        refs = references_to(ids_of((places.find("registered_function").value,)))
        owned = {runtime.registered_name(owner) for owner in (ref() for ref in refs) if owner is not None}
        return len(names), len(set(names).difference(owned))

    # -- of memory

    def memory_exactly(self) -> Memory:
        """What the process holds; memory in use is read anew, however long that takes."""
        process = self._state.process
        heap, memory = process.allocator.read_now(), process.read()
        return memory if heap.in_use_bytes is None else memory._replace(in_use_bytes=heap.in_use_bytes)

    def account(self) -> Account:
        """Whose bytes these are; dear: some tenths of a second."""
        return account.take(self._state.process, object_weights.read, runtime.device_memory)

    def light_account(
        self, tallies: Mapping[Key, Tally], asked: bool = False, memory: Optional[Memory] = None
    ) -> Account:  # fmt: skip
        """Whose bytes these are as far as it can be read at once; what is counted is in `tallies`."""
        variables_bytes = sum(tally.live_bytes for key, tally in tallies.items() if key.kind == "variable")
        return account.light(self._state.process, variables_bytes, asked, memory)

    def gauges(self) -> Dict[str, Dict[str, float]]:
        """The readings of `catalog.GAUGES`, by the value of their label; what can't be read now is left out."""
        now = self.light_account(self._state.ledger.read())
        limits = self._state.ahead.limits
        outlook = self._explanations.outlook()
        return {
            "tfmemwatch_resident_bytes": {"": float(now.resident_bytes)},
            "tfmemwatch_proportional_bytes": {"": float(self._state.shared_pages.own_part(now.resident_bytes))},
            "tfmemwatch_memory_bytes": {name: float(size) for name, size in now.parts.items()},
            "tfmemwatch_limit_bytes": {limit.label: float(limit.bytes) for limit in reversed(limits)},
            "tfmemwatch_limit_left_bytes": {limit.label: float(limit.left_bytes) for limit in reversed(limits)},
            "tfmemwatch_limit_seconds": {} if outlook is None else {outlook.label: outlook.seconds},
            "tfmemwatch_device_bytes": {name: float(size) for name, size in runtime.device_memory().items()},
        }

    def _gauges(self) -> Dict[str, Dict[str, float]]:
        try:
            return self.gauges()
        except Exception:
            guard.failed("gauges")
            return {}


def nothing_watched() -> Report:
    """Of a process that nobody watches: its memory, and that nothing is known."""
    process = Process()
    try:
        memory = process.read()
    finally:
        process.close()
    told = Headline(NOT_WATCHED, "NOT WATCHED, because nobody has called tfmemwatch.install()")
    return Snapshot(
        title="nothing is watched", seconds=time.time(), findings=(), memory=memory, headline=told, level="off",
        program=program(0.0), versions=_versions(),
    )  # fmt: skip


def program(began: float) -> Program:
    """This process."""
    name = os.path.basename((getattr(sys, "argv", None) or [""])[0])
    return Program(os.getpid(), socket.gethostname(), str(name)[:200], began)


def _versions() -> Dict[str, str]:
    own = getattr(sys.modules.get("tfmemwatch"), "__version__", "")  # importing it would import what stands above
    return dict(runtime.versions(), tfmemwatch=own, python="%d.%d.%d" % sys.version_info[:3])
