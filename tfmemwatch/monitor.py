"""The one place that puts the parts together."""

from __future__ import annotations

import linecache
import sys
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import fork, guard, known, tfapi
from .config import Config, checked
from .errors import Unavailable
from .examiner import Examiner
from .expectations import Expectation, Expectations
from .growth import COUNT_EVENTS
from .holders import path_to
from .inquiry import Pace
from .ledger import Ledger
from .memory import Memory, Process
from .model import Finding, Site
from .moment import Snapshot
from .operations import Operations
from .outputs import log
from .patch import no_longer, on_import
from .probes import PROBES, datasets, tapes
from .probes.models import Calls, Models
from .probes.scene import RANK, Probe, Scene
from .probes.tapes import Tapes
from .sampler import Sampler

_TIME_PACE = Pace(bytes_a_look=0, bytes_in_all=768 * 1024, first_half=0.75)


_IMPORT_SECONDS = 1.0
_TRIES = 3  # for the way to what is held
_MOST_HOLDERS = 200
_HELD = {
    "variable": ("variable", "graph_variable"),
    "model_rebuild": ("model",),
    "session_unclosed": ("session",),
    "graph_growth": ("graph",),
    "dataset_iterator": ("iterator",),
    "tape": ("tape",),
    "function_library": ("function",),
}


class Watch:
    """Wraps TensorFlow, counts, looks at regular times, and tells what leaks."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.level = config.level
        self.process = Process()
        self.ledger = Ledger(config.max_sites)
        self.scene = Scene(self.ledger, self.process, config.level, config)
        self.probes: List[Probe] = []
        self.off: Dict[str, str] = {}
        self.operations = Operations(self.scene)
        self.expectations = Expectations(config.collect)
        self.tensorflow_before_fork = False
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
        self._holders: Dict[Tuple[str, Site], Tuple[str, int]] = {}

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
        self.level = checked("level", level, "level")
        self.scene.rank = RANK[level]

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

    def look(self) -> None:
        """One sample, and all that follows from it."""
        with self._lock:
            if not self._running:
                return
            self._imported()
            if self.scene.rank:
                now = self._looks * self.config.sample_seconds
                self._looks += 1
                self.tell(self._examiner.look(now))
                self.tell(self.expectations.look(self._tell_gone))
                self.tell(self.news())
            else:
                self.ledger.read()  # what was born before still dies, and its deaths must not pile up

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

    def tell(self, news: List[Finding]) -> None:
        """Say it in the log, and to whoever wants to hear."""
        for finding in news:
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
        return self._examiner.findings

    def snapshot(self) -> Snapshot:
        """Everything at this moment, as a plain value."""
        with self._lock:
            counts, memory, verdict = self.read(), self.memory(), self._examiner.verdict
            return Snapshot(time.time(), counts, memory, tuple(self.findings()), dict(self.off), verdict)

    def report(self) -> str:
        """A text for a person."""
        return str(self.snapshot())

    def calls(self) -> List[Calls]:
        """How each living model has been called."""
        return [row for probe in self.probes if isinstance(probe, Models) for row in probe.calls()]

    def more(self) -> str:
        """Which level would tell more."""
        rank = self.scene.rank
        return {1: "level='sites' would name the line", 2: "level='stacks' would show who called it"}.get(rank, "")

    def recording(self) -> List[Site]:
        """Where the tapes were opened that record now; those from before the watch are looked for."""
        known = [tape.site for probe in self.probes if isinstance(probe, Tapes) for tape in probe.recording()]
        return known or tapes.lines_from_before()

    def explained(self, finding: Finding) -> Finding:
        """The finding, with why it came about, who holds what has grown and what to write instead."""
        try:
            for probe in self.probes:
                finding = probe.explained(finding)
            finding = self._held(finding)
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
        holder, tries = self._holders.get(finding.story, ("", 0))
        if not holder and tries < _TRIES and len(self._holders) < _MOST_HOLDERS:
            is_own = threading.current_thread().name == "tfmemwatch"
            holder = path_to(self.ledger.living(kinds, finding.site), 0.2 if is_own else 0.04)
            self._holders[finding.story] = holder, tries + 1
        return finding._replace(holder=holder)

    def hoarders(self) -> List[Tuple[Site, str]]:
        """Where datasets without an end were told to remember what passes, and by which method."""
        return datasets.hoarders([at for at, _ in self.ledger.ages("cache_dataset")])


def _is_loaded(name: str) -> bool:
    """Whether a module has been imported to its end."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)
