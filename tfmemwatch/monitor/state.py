"""What the parts of one watch share: its settings, what it reads, and how long it has been at it."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Tuple

from ..config import Config
from ..evidence.instruments.operations_window import OperationsWindow
from ..growth.history import Timeline
from ..heap.room import room
from ..holders.models import LivingModels, Reference
from ..ledger.counts import Ledger
from ..memory.limits_ahead import LimitsAhead
from ..memory.process import Process
from ..memory.shared_pages import SharedPages
from ..memory.stake import Stake
from ..model import UNKNOWN, Key, Tally
from ..probes.scene import Scene
from ..safety import guard
from .budget import Allowance, Pause
from .installed import InstalledProbes
from .level import Level
from .moments import Moments

_MOST_VARIABLES = 100000  # that are known to be made under the watch
_LOOKS_AT_ONCE = 1.0  # seconds of processor time that looks between the others may take before they become fewer


class State:
    """One for each watch. Who holds it reads from it; the watch alone changes it."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.is_running = False
        self.process = Process(opened=False)
        self.ledger = Ledger(config.max_sites)
        self.scene = Scene(self.ledger, self.process, config.level, config)
        self.probes = InstalledProbes(self.scene, config, lambda: self.is_running)
        self.operations = OperationsWindow(self.scene)
        self.models = LivingModels(config.collect, self._models, self._variables, self._traces_of, self._grown_by_calls)
        self.level = Level(config, self.scene, self.probes)
        self.shared_pages = SharedPages()
        self._begin()

    def start_afresh(self) -> None:
        """In the child of a fork: what the parent did is forgotten."""
        self.ledger.start_afresh()
        self.models.start_afresh()
        self.process.open()
        self.shared_pages.start_afresh()
        self.probes.start_afresh()
        self.operations.close()
        self._begin()

    def _begin(self) -> None:
        """Nothing has been seen yet."""
        room.below(None)  # until the limits have been read
        self.ahead = LimitsAhead()
        self.stake = Stake()
        self.moments = Moments(Timeline())
        self.began = time.time()
        self.looks = 0
        self.watched_seconds = 0.0  # in which it has looked, the level was not off
        self.looked_at = 0.0  # time.time() of the last look
        self.own_seconds = 0.0  # of the thread
        self.evidence_seconds = 0.0  # of these, what evidence has taken
        self.looks_seconds = 0.0  # of these, what looks between the others have taken
        self.allowance = Allowance(self.config.max_overhead)
        self.looks_allowed = Allowance(self.config.max_overhead, _LOOKS_AT_ONCE)
        self.pause = Pause(self.config.sample_seconds, self.config.max_overhead)
        self.level.forget()

    @staticmethod
    def hook_seconds() -> float:
        """Processor time that the hooks have taken so far, in the program's threads."""
        return sum(guard.spent.values())

    def evidence_took(self, seconds: float) -> None:
        """The thread has spent so much on evidence: it waits with the next."""
        self.evidence_seconds += seconds
        self.allowance.spend(seconds)

    def looks_took(self, seconds: float) -> None:
        """The thread has spent so much on looks between the others: they become fewer."""
        self.looks_seconds += seconds
        self.looks_allowed.spend(seconds)

    def keep_to_budget(self, now: float) -> None:
        """The hooks' time decides the level; the thread's own, how long it pauses."""
        self.level.look(now, self.hook_seconds())
        self.pause.look(now, self.own_seconds - self.evidence_seconds - self.looks_seconds)

    def read(self) -> Dict[Key, Tally]:
        """Every count as it stands now; the last reading where this thread, or for long another, is at it."""
        self.probes.reading.take(self.probes.read)
        return self.ledger.read()

    def _models(self, most: int) -> List[Reference]:
        """Where the living models were made, and weak references to them."""
        self.ledger.read()
        seen: List[Tuple[Any, Any]] = self.ledger.references("model", most)
        from_before = self.probes.ask(lambda probe: probe.called_models())
        return (seen + [(UNKNOWN, ref) for ref in from_before])[:most]

    def _variables(self) -> List[Any]:
        kinds = ("variable", "graph_variable")
        return [ref for kind in kinds for _, ref in self.ledger.references(kind, _MOST_VARIABLES)]

    def _traces_of(self, model: Any) -> int:
        return sum(self.probes.ask(lambda probe: [probe.traces_of(model)]))

    def _grown_by_calls(self, model: Any) -> int:
        return sum(self.probes.ask(lambda probe: [probe.grown_by_calls(model)]))
