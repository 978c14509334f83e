"""How closely the watch looks: as it was told, and less closely while its hooks cost more than they may."""

from __future__ import annotations

import time
from typing import Collection

from ..catalog import ROWS
from ..config import LEVELS, Config, checked
from ..probes.models import WHOLE_CALLS
from ..probes.scene import RANK, Scene
from ..reports import LevelNow
from ..safety import guard
from .budget import Budget
from .installed import InstalledProbes

AS_SET, BUDGET = "set", "budget"
# Whose lines are kept to the last: they are few, and most leaks are theirs.
_OF_PROBES = ("traces", "sessions", "graphs", "models", "variables")
KEPT = frozenset(row.kind for row in ROWS if row.probe in _OF_PROBES and row.kind != "name").union(
    ("imported", "xla_build"), ("model: " + method for method in ("__call__", *WHOLE_CALLS))
)


class Level:
    """The level of a watch, and the budget of the hooks that lowers and raises it."""

    def __init__(self, config: Config, scene: Scene, probes: InstalledProbes) -> None:
        self._wanted = config.level
        self._most = config.max_overhead
        self._scene = scene
        self._probes = probes
        self._changes = 0
        self.budget = Budget(self._most)
        self._become(config.level, AS_SET, "")

    @property
    def name(self) -> str:
        """The present level."""
        return self.now.name

    @property
    def is_lowered(self) -> bool:
        """Whether the budget has lowered it."""
        return self.now.because == BUDGET

    @property
    def changes(self) -> int:
        """How often the budget has changed it."""
        return self._changes

    def forget(self) -> None:
        """Begin anew, at the level that was asked for."""
        self.budget = Budget(self._most)
        self._become(self._wanted, AS_SET, "")

    def set(self, name: str) -> None:
        """Look more or less closely from now on."""
        self._wanted = checked("level", name, "level")
        self._changes += self.is_lowered
        self.forget()

    def _become(self, name: str, because: str, why: str) -> None:
        self.now = LevelNow(name, because, why, time.time())
        self._scene.kept = KEPT if because == BUDGET else frozenset()
        self._scene.rank = RANK[name]
        if name == "off":
            self._probes.turned_off()

    def keep_lines(self, kinds: Collection[str]) -> None:
        """While the budget has lowered the level, these kinds keep their lines: they grow."""
        if self.is_lowered and not self._scene.kept.issuperset(kinds):
            self._scene.kept = self._scene.kept.union(kinds)

    def look(self, now: float, spent_seconds: float) -> None:
        """Compare what the hooks have taken so far with what they may take, and follow."""
        self.obey(self.budget.look(now, spent_seconds))

    def obey(self, word: str) -> None:
        """Do what the budget says: "lower", "raise", or nothing."""
        if not word:
            return
        rank = RANK[self.name]
        rank = max(0, rank - 1) if word == "lower" else min(RANK[self._wanted], rank + 1)
        name = LEVELS[rank]
        if name == self.name:
            return
        self._changes += 1
        if word == "lower":
            self._lower(name)
        else:
            self._raise(name)

    def _lower(self, name: str) -> None:
        why = "its hooks took %.1f %% of the time and may take %.3g %%" % (
            100 * self.budget.share, 100 * self.budget.most,
        )  # fmt: skip
        self._become(name, BUDGET, why)
        guard.logger.warning("tfmemwatch: its %s; it is tried again later", self.now)

    def _raise(self, name: str) -> None:
        kept = self._scene.kept
        if name == self._wanted:
            self._become(name, AS_SET, "")
        else:
            self._become(name, BUDGET, self.now.why)
            self._scene.kept = kept
        guard.logger.info("tfmemwatch: its level is %s again", name)

    def hint(self) -> str:
        """Which level would tell more."""
        if self.is_lowered:
            return "level is %r to stay within max_overhead=%.3g: less evidence" % (self.name, self._most)
        hints = {1: "level='sites' would name the line", 2: "level='stacks' would show who called it"}
        return hints.get(self._scene.rank, "")
