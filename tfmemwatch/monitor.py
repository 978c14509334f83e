"""The one place that puts the parts together."""

from __future__ import annotations

import linecache
import sys
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from . import account, census, fork, guard, holdings, known, remedy, tfapi
from .account import Account
from .budget import Budget
from .config import Config, checked
from .door import Door
from .errors import Unavailable
from .estates import Estates
from .examiner import Examiner
from .expectations import Expectation, Expectations
from .forecast import Outlook
from .frozen import Frozen
from .growth import COUNT_EVENTS
from .holders import CALLERS_SECONDS, SECONDS, path_to
from .horizon import Horizon
from .inquiry import Pace
from .ledger import Ledger
from .memory import Memory, Process
from .model import UNKNOWN, Finding, Site, bytes_pace_of, count_of, since_of
from .moment import Snapshot
from .operations import Operations
from .outputs import log
from .patch import no_longer, on_import
from .probes import PROBES, datasets, tapes
from .probes.graphs import Graphs
from .probes.models import Models
from .probes.scene import RANK, Probe, Scene
from .probes.tapes import Tapes
from .probes.traces import Traces
from .residue import Row
from .sample import Calls, Cause, Living, Own, Sample
from .sampler import Sampler

_AHEAD_SECONDS = 1.0  # between two readings of the limits
_EVIDENCE_BYTES = 64 << 20  # what must be left below the limit before evidence is taken: a census takes some of it
_TIME_PACE = Pace(bytes_a_look=0, bytes_in_all=768 * 1024, first_half=0.75)


_IMPORT_SECONDS = 1.0
_TRIES = 6  # for the way to what is held: the search is short, and the machine may be busy
_MOST_HOLDERS = 200
_MOST_FROZEN = 12
_MOST_LEFT = 1000
_HELD = {
    "variable": ("variable", "graph_variable"),
    "model_rebuild": ("model",),
    "session_unclosed": ("session",),
    "graph_growth": ("graph",),
    "dataset_iterator": ("iterator",),
    "tape": ("tape",),
    "function_library": ("function",),
}


class _Way(NamedTuple):
    """To what is held: as it was found, when there was so much of it."""

    holder: str
    tries: int
    grown: int


class Watch:
    """Wraps TensorFlow, counts, looks at regular times, and tells what leaks."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.level = self._wanted = config.level
        self.process = Process()
        self.ledger = Ledger(config.max_sites)
        self.scene = Scene(self.ledger, self.process, config.level, config)
        self.probes: List[Probe] = []
        self.off: Dict[str, str] = {}
        self.operations = Operations(self.scene)
        self.door = Door(config.door, {"remedies": self._remedies, "owners": self._owners, "report": self._report})
        self.expectations = Expectations(config.collect)
        self.tensorflow_before_fork = False
        self.after_look: List[Callable[[], None]] = []  # called on the watch's thread, when it has looked
        self.estates = Estates(config.collect, self._models, self._traces_of, self._grown_of)
        self._sampler: Optional[Sampler] = None
        self._hook: Any = None
        self._running = False
        self._installed = False
        self._lock = threading.RLock()  # of starting, stopping and looking; never taken by a hook
        self._begin()

    def _begin(self) -> None:
        per_hour = 3600 / self.config.sample_seconds
        self._examiner = Examiner(self, COUNT_EVENTS, _TIME_PACE, "hour", per_hour)
        self._looks = 0
        self._ahead_at = 0.0  # when the limits are read again
        self._own_seconds = 0.0
        self._refused = False
        self.budget = Budget(self.config.max_overhead)
        self._looked_at: Optional[float] = None
        self.horizon = Horizon()
        self._began = time.time()
        self._holders: Dict[Tuple[str, Site], _Way] = {}
        self._left: Dict[Site, int] = {}  # models of a line that have gone and left variables

    # -- starting and stopping

    def start(self, sampling: bool = True) -> None:
        """Wrap what is there, or wait for TensorFlow to be imported; begin to look."""
        with self._lock:
            self._running = True
            fork.in_child(self._start_afresh)
            self._hook = weakref.WeakMethod(self._imported)
            for name in ("tensorflow", "keras", "tf_keras"):
                on_import(name, self._hook)
            self._imported()
            if not self._installed:
                guard.logger.info("tfmemwatch waits for TensorFlow to be imported")
            if sampling:
                self.door.open()
                self._sampler = Sampler(self.look, self.config.sample_seconds)
                self._sampler.start()

    def stop(self) -> None:
        """Put everything back; what is already counted can still be read."""
        self._running = False
        self.stop_sampling()
        no_longer(self._hook)
        with self._lock:
            self._examiner.stop()
            for probe in reversed(self.probes):
                probe.uninstall()
            self._installed = False
            self.process.close()
            self.door.close()

    def stop_sampling(self) -> None:
        """End the thread: someone else, a block with steps, looks from now on."""
        sampler, self._sampler = self._sampler, None
        if sampler is not None:
            sampler.stop()

    @property
    def is_running(self) -> bool:
        """Whether it watches."""
        return self._running

    def set_level(self, level: str) -> None:
        """Look more or less closely from now on."""
        self._look_at(checked("level", level, "level"))
        self._wanted = level
        self.budget = Budget(self.config.max_overhead)

    def _look_at(self, level: str) -> None:
        self.level = level
        self.scene.rank = RANK[level]
        if level == "off":
            for probe in self.probes:
                probe.rest()

    def _imported(self, module: Any = None) -> None:
        """TensorFlow or a Keras is there, or not yet. A module that is handed over has been executed.

        Whoever imports holds the import lock, and a look may want to import: so nobody waits here for long.
        """
        if not self._lock.acquire(timeout=_IMPORT_SECONDS):
            return  # the next look does it
        try:
            is_there = getattr(module, "__name__", "") == "tensorflow" or _is_loaded("tensorflow")
            if self._running and self._installed:
                for probe in self.probes:
                    self._try(probe, probe.install_keras)
            elif self._running and is_there:
                self._installed = True
                self._install()
        finally:
            self._lock.release()

    def _install(self) -> None:
        for kind in PROBES:
            if (self.config.probes and kind.name not in self.config.probes) or kind.name in self.config.without:
                self.off[kind.name] = "left out by the settings"
                continue
            probe = kind(self.scene)
            if self._try(probe, probe.install):
                self.probes.append(probe)

    def _try(self, probe: Probe, install: Callable[[], None]) -> bool:
        try:
            install()
            return True
        except Unavailable as why:
            self.off[probe.name] = str(why)
        except Exception as error:
            self.off[probe.name] = "it failed: %r" % error
            guard.failed("install of " + probe.name)
        probe.uninstall()
        return False

    def _start_afresh(self) -> None:
        """In the child of a fork: empty, with new locks, and a thread of its own."""
        self._lock = threading.RLock()
        self.tensorflow_before_fork = bool(tfapi.is_used())
        sampling = self._sampler is not None
        self.ledger.start_afresh()
        self.expectations.start_afresh()
        self.estates.start_afresh()
        self.process.open()
        for probe in self.probes:
            probe.start_afresh()
        self.operations.close()
        self._begin()
        if self.tensorflow_before_fork and self._running:
            guard.logger.warning(
                "this process was forked after TensorFlow had been used; TensorFlow may hang in it. "
                "Fork first, or use multiprocessing's 'spawn'."
            )
        if sampling and self._running:
            self.door.open()
            self._sampler = Sampler(self.look, self.config.sample_seconds)
            self._sampler.start()

    # -- looking

    def read(self) -> Dict[Any, Any]:
        """Every count as it stands now."""
        for probe in self.probes:
            try:
                probe.read()
            except Exception:
                guard.failed("read of " + probe.name)
        return self.ledger.read()

    def memory(self) -> Memory:
        """What the process holds now."""
        return self.process.read()

    def account(self) -> Account:
        """Whose bytes these are; dear: some tenths of a second."""
        return account.take(self.process, holdings.read, tfapi.device_memory)

    def look(self) -> None:
        """One look at everything, and all that follows from it."""
        began = time.thread_time()
        self._look()
        if self._running and self.scene.rank:
            self._take_stock()
        for listener in self.after_look:
            try:
                listener()
            except Exception:
                guard.failed("after a look")
        self._own_seconds += time.thread_time() - began
        if self._running:
            self._keep_to_budget(self.budget.look(time.monotonic(), self.spent_seconds()))

    def spent_seconds(self) -> float:
        """What the watch has taken so far: its thread, and its hooks in the program's threads."""
        return self._own_seconds + sum(guard.spent.values())

    def _keep_to_budget(self, word: str) -> None:
        if not word:
            return
        rank = RANK[self.level]
        rank = max(0, rank - 1) if word == "lower" else min(RANK[self._wanted], rank + 1)
        level = next(name for name, other in RANK.items() if other == rank)
        if level == self.level:
            return
        if word == "lower":
            guard.logger.info(
                "the watch took %.1f %% of the time, and may take %.3g %%: its level is %s now",
                100 * self.budget.share, 100 * self.budget.most, level,
            )  # fmt: skip
        self._look_at(level)

    def _look(self) -> None:
        with self._lock:
            if not self._running:
                return
            self._imported()
            self._looked_at = time.time()
            self.door.look()
            if self.scene.rank:
                now = self._looks * self.config.sample_seconds
                self._looks += 1
                self._look_ahead()
                self.tell(self._examiner.look(now))
                self.tell(self.expectations.look(self._tell_gone))
                self.tell(self.news())
            else:
                self.ledger.read()  # what was born before still dies, and its deaths must not pile up

    def _take_stock(self, asked: bool = False) -> None:
        """What models have, and what is left of those that have gone; not under the watch's lock."""
        try:
            news = self.estates.look(asked)
        except Exception:
            guard.failed("estates")
            return
        if len(self._left) > _MOST_LEFT:
            self._left.clear()
        for remains in news:
            times = self._left[remains.site] = self._left.get(remains.site, 0) + 1
            if self.config.log and times & (times - 1) == 0:  # the first of a line, the second, the fourth, ...
                again = " (%s of this line)" % count_of(times) if times > 1 else ""
                guard.logger.info("a model that was made at %s has gone: %s%s", remains.site.short, remains, again)

    def _models(self, most: int) -> List[Tuple[Site, Any]]:
        """Where the living models were made, and weak references to them."""
        self.ledger.read()
        known = self.ledger.references("model", most)
        from_before = [ref for probe in self.probes if isinstance(probe, Models) for ref in probe.called()]
        return (known + [(UNKNOWN, ref) for ref in from_before])[:most]

    def _traces_of(self, model: Any) -> int:
        return sum(probe.times(model) for probe in self.probes if isinstance(probe, Traces))

    def _grown_of(self, model: Any) -> int:
        return sum(probe.grown(model) for probe in self.probes if isinstance(probe, Models))

    def residues(self) -> List[Row]:
        """What the calls of each living model have left, of those that were measured often enough."""
        return [Row(*row) for probe in self.probes if isinstance(probe, Models) for row in probe.rises()]

    def news(self) -> List[Finding]:
        """What the probes have to say by themselves, each once."""
        try:
            return [self.explained(finding) for probe in self.probes for finding in probe.news()]
        except Exception:
            guard.failed("news")
            return []

    def _tell_gone(self, one: Expectation) -> None:
        if self.config.log:
            guard.logger.info("%s: the %s has gone, after %.1f s", one.what, one.kind, time.monotonic() - one.since)

    def _look_ahead(self) -> None:
        """Limits are read from a dozen files: once a second at most."""
        now = time.monotonic()
        if now < self._ahead_at:
            return
        self._ahead_at = now + _AHEAD_SECONDS
        try:
            self.horizon.look(now, self.memory(), len(sys.modules))
        except Exception:
            guard.failed("limits")

    def tell(self, news: List[Finding]) -> None:
        """Say it in the log, and to whoever wants to hear."""
        for finding in self._foreseen(news):
            if self.config.log:
                log.tell(finding)
            if self.config.on_finding is not None:
                try:
                    self.config.on_finding(finding)
                except Exception:
                    guard.failed("on_finding")

    # -- what one can ask

    def findings(self) -> List[Finding]:
        """What leaks now."""
        return self._foreseen(self._examiner.findings)

    def _remedies(self, question: Dict[str, Any]) -> str:
        names = tuple(str(name) for name in question.get("names", ()))
        return str(remedy.trial(names, question.get("function"), self.process))

    def _owners(self, question: Dict[str, Any]) -> str:
        return str(self.account())

    def _report(self, question: Dict[str, Any]) -> str:
        return self.report()

    def emptied(self) -> Dict[str, int]:
        """Empty TensorFlow's caches of kernels and numbers; bytes that each gave back."""
        given = {}
        for name, empty in (("kernel cache", tfapi.clear_kernel_cache), ("scalar cache", tfapi.clear_scalar_cache)):
            try:
                before = self.process.in_use_bytes() or 0
                empty()
                given[name] = before - (self.process.in_use_bytes() or 0)
            except Unavailable:
                continue
            except Exception:
                guard.failed("emptying the " + name)
        return given

    def may_take_evidence(self) -> bool:
        """Not where so little memory is left that an inquiry, which takes some, could be the end; the log says so."""
        limit = next(iter(self.horizon.limits), None)
        is_near = limit is not None and limit.left_bytes < max(_EVIDENCE_BYTES, 0.03 * limit.bytes)
        if is_near and not self._refused:
            guard.logger.info("memory is near its limit (%s): no evidence is taken until there is more", limit)
        self._refused = is_near
        return not is_near

    def outlook(self) -> Optional[Outlook]:
        """When the nearest limit is reached; None while memory does not go on to grow."""
        return self.horizon.outlook()

    def rise(self) -> str:
        """`the process grows by 0.8 MB an hour since 14:02 (19 Nov)`, by a robust slope; empty where it does not."""
        slope = self.horizon.rise
        if slope is None:
            return ""
        began = time.time() - (time.monotonic() - slope.since)
        pace = bytes_pace_of(3600 * slope.most_likely, "hour")
        return "the process grows by %s %s" % (pace, since_of(0.0, "hour", began))

    def _foreseen(self, findings: List[Finding]) -> List[Finding]:
        """Those of growing bytes say when they end the process, where that can be told."""
        outlook = self.outlook() if any(map(_grows, findings)) else None
        if outlook is None:
            return findings
        return [one._replace(outlook=str(outlook)) if _grows(one) else one for one in findings]

    def snapshot(self, owners: bool = False) -> Snapshot:
        """Everything at this moment, as a plain value; with whose bytes these are, if that is asked for."""
        living = self.living()
        with self._lock:
            counts, memory, verdict = self.read(), self.memory(), self._examiner.verdict
            account = self.account() if owners else None
            limit = next(iter(self.horizon.limits), None)
            return Snapshot(time.time(), counts, memory, tuple(self.findings()), dict(self.off), verdict,
                            account, limit, self.outlook(), living, self.rise())  # fmt: skip

    def living(self) -> Living:
        """What a report says beside counts; looks through the heap once."""
        names = tfapi.function_names()
        orphans = None
        if names is not None and tfapi.has("registered_function"):
            owners = census.everything({tfapi.find("registered_function").value})
            orphans = len(set(names).difference(map(tfapi.registered_name, owners)))
        count = None if names is None else len(names)
        self._take_stock(asked=True)
        return Living(
            self.calls(), self.ledger.ages("session"), count, orphans, self.estates.loaded, self.estates.remains
        )

    def sample(self, wait_seconds: float = 1.0) -> Optional[Sample]:
        """Everything at this moment, for what is exported; None where a look that is under way takes longer."""
        if not self._lock.acquire(timeout=wait_seconds):
            return None
        try:
            tallies = self.read()
        finally:
            self._lock.release()
        up = {probe.name for probe in self.probes}
        ledger = self.ledger
        return Sample(
            tallies=tallies, memory=self.memory(), findings=tuple(one for one in self.findings() if one.is_sure),
            session_ages=ledger.ages("session"), calls=self.calls(), causes=self.causes(),
            probes={kind.name: kind.name in up for kind in PROBES}, versions=tfapi.versions(),
            own=Own(
                self._own_seconds, ledger.own_bytes, self._looks, self._looked_at, ledger.folded, dict(guard.failures)
            ),
            gauges=self._gauges(), registered_functions=tfapi.registered_functions(),
            operations=next((probe.operations() for probe in self.probes if isinstance(probe, Graphs)), None),
            models=self.estates.loaded, remains=self.estates.remains,
        )  # fmt: skip

    def report(self) -> str:
        """A text for a person."""
        frozen = self.frozen()[:_MOST_FROZEN]
        told = ["", "Frozen into traces", *("  " + str(one) for one in frozen), ""] if frozen else []
        return str(self.snapshot(owners=True)) + "\n".join(told)

    def light_account(self, tallies: Mapping[Any, Any]) -> Account:
        """Whose bytes these are as far as it can be read at once; what is counted is in `tallies`."""
        return account.light(
            self.process, sum(tally.live_bytes for key, tally in tallies.items() if key.kind == "variable")
        )

    def gauges(self) -> Dict[str, Dict[str, float]]:
        """The readings of `catalog.GAUGES`, by the value of their label; what can't be read now is left out."""
        now = self.light_account(self.ledger.read())
        limits = self.horizon.limits
        outlook = self.outlook()
        return {
            "tfmemwatch_resident_bytes": {"": float(now.resident_bytes)},
            "tfmemwatch_memory_bytes": {name: float(size) for name, size in now.parts.items()},
            "tfmemwatch_limit_bytes": {limit.label: float(limit.bytes) for limit in reversed(limits)},
            "tfmemwatch_limit_left_bytes": {limit.label: float(limit.left_bytes) for limit in reversed(limits)},
            "tfmemwatch_limit_seconds": {} if outlook is None else {outlook.label: outlook.seconds},
            "tfmemwatch_device_bytes": {name: float(size) for name, size in tfapi.device_memory().items()},
        }

    def _gauges(self) -> Dict[str, Dict[str, float]]:
        try:
            return self.gauges()
        except Exception:
            guard.failed("gauges")
            return {}

    def causes(self) -> List[Cause]:
        """Why functions were traced again, counted."""
        traces = [probe for probe in self.probes if isinstance(probe, Traces)]
        return [Cause(*row) for probe in traces for row in probe.reasons.causes()]

    def calls(self) -> List[Calls]:
        """How each living model has been called."""
        return [row for probe in self.probes if isinstance(probe, Models) for row in probe.calls()]

    def more(self) -> str:
        """Which level would tell more."""
        rank = self.scene.rank
        if self.budget.is_lowered:
            return "level is %r, to stay within max_overhead=%.3g: evidence is thin" % (self.level, self.budget.most)
        return {1: "level='sites' would name the line", 2: "level='stacks' would show who called it"}.get(rank, "")

    def recording(self, seconds: float) -> List[Site]:
        """Where the tapes were opened that have recorded for so long; those from before the watch are looked for."""
        probes = [probe for probe in self.probes if isinstance(probe, Tapes)]
        found = [tape.site for probe in probes for tape in probe.recording() if tape.seconds >= seconds]
        return found or tapes.lines_from_before(probes[0].known if probes else ())

    def frozen(self) -> List[Frozen]:
        """What traces hold on to: Python state that has changed since, and large data baked in as constants."""
        try:
            return [one for probe in self.probes if isinstance(probe, Traces) for one in probe.frozen()]
        except Exception:
            guard.failed("frozen")
            return []

    def explained(self, finding: Finding) -> Finding:
        """The finding, with why it came about, who holds what has grown and what to write instead."""
        try:
            for probe in self.probes:
                finding = probe.explained(finding)
            finding = self._held(finding)
            if finding.per == "hour" and finding.since:
                finding = finding._replace(began=self._began + finding.since)
            line = linecache.getline(finding.site.file, finding.site.line)
            text = " ".join((finding.cause, finding.why, line))
            return finding._replace(known=known.said(finding.kind, text, tfapi.version()))
        except Exception:
            guard.failed("explaining %s" % finding.kind)
        return finding

    def _held(self, finding: Finding) -> Finding:
        """Who holds some of the things that were made at the line; looked for a few times at most."""
        kinds = _HELD.get(finding.kind)
        if kinds is None or finding.holder or not self.config.evidence:
            return finding
        way = self._holders.get(finding.story, _Way("", 0, 0))
        is_old = bool(way.holder) and finding.grown >= 2 * way.grown  # the numbers in it, as it is told again
        if is_old or (not way.holder and way.tries < _TRIES and len(self._holders) < _MOST_HOLDERS):
            is_own = threading.current_thread().name == "tfmemwatch"
            living = self.ledger.living(kinds, finding.site)
            if not living and finding.kind == "tape":
                living = tapes.from_before()[:1]
            holder = path_to(living, SECONDS if is_own else CALLERS_SECONDS) or way.holder
            way = self._holders[finding.story] = _Way(holder, way.tries + 1, finding.grown)
        return finding._replace(holder=way.holder)

    def caches(self) -> bool:
        """Whether a dataset is there that keeps in memory what passes: through its first epoch it grows straight."""
        return bool(self.ledger.ages("cache_dataset"))

    def hoarders(self) -> List[Tuple[Site, str]]:
        """Where datasets without an end were told to remember what passes, and by which method."""
        return datasets.hoarders([at for at, _ in self.ledger.ages("cache_dataset")])


def _grows(finding: Finding) -> bool:
    return finding.bytes > 0 and finding.state == "leak"


def _is_loaded(name: str) -> bool:
    """Whether a module has been imported to its end."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)
