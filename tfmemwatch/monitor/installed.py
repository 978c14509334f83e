"""The probes that are up: wrapped around what has been imported, asked, and taken away again."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, TypeVar

from ..config import Config
from ..errors import Unavailable
from ..probes import PROBES
from ..probes.scene import Probe, Scene
from ..safety import guard
from ..safety.turn import Turn
from ..seams.imports import no_longer, on_import

_IMPORT_SECONDS = 1.0
_PACKAGES = ("tensorflow", "keras", "tf_keras")
LEFT_OUT = "left out by the settings"
Answer = TypeVar("Answer")


class InstalledProbes:
    """Puts probes up as TensorFlow and Keras are imported; whatever interrupts it, `uninstall` puts everything back."""

    def __init__(self, scene: Scene, config: Config, is_wanted: Callable[[], bool]) -> None:
        self._scene = scene
        self._config = config
        self._is_wanted = is_wanted
        self.up: List[Probe] = []
        self.off: Dict[str, str] = {}  # why, by name
        self.is_installed = False
        self.when_up: Optional[Callable[[], None]] = None  # called when TensorFlow is there and wrapped, in no turn
        self._begun: List[Probe] = []  # each written down before it wraps anything
        self._hook: Any = None
        self.make_turns()

    def make_turns(self) -> None:
        """Also in the child of a fork, where another thread may have had one."""
        self.reading = Turn()  # to read what the probes have seen; never taken by a hook
        self.wrapping = Turn()  # to wrap what has been imported

    # -- putting up and taking away

    def install(self) -> None:
        """Wrap what is there, and what is imported from now on."""
        self._hook = weakref.WeakMethod(self.imported)
        for name in _PACKAGES:
            on_import(name, self._hook)
        self.imported()

    def uninstall(self) -> None:
        """Put everything back."""
        for probe in reversed(self._begun + [probe for probe in self.up if probe not in self._begun]):
            probe.uninstall()
        self.is_installed = False

    def listen_no_more(self) -> None:
        """What is imported from now on stays as it is."""
        no_longer(self._hook)

    def imported(self, module: Any = None) -> None:
        """TensorFlow or a Keras is there, or not yet. A module that is handed over has been executed.

        Whoever imports holds the import lock, and a look may want to import: so nobody waits here for long.
        """
        is_there = getattr(module, "__name__", "") == "tensorflow" or _is_loaded("tensorflow")
        was_up = self.is_installed
        self.wrapping.take(lambda: self._wrap(is_there), _IMPORT_SECONDS)  # else the next look does it
        if self.is_installed and not was_up and self.when_up is not None:
            self.when_up()

    def _wrap(self, is_there: bool) -> None:
        if not self._is_wanted() or not (self.is_installed or is_there):
            return
        if not self.is_installed:
            self._put_up()
        for probe in self.up:
            self._try(probe, probe.install_keras)
        self.is_installed = True

    def _put_up(self) -> None:
        """Put up what is not up yet; one that was interrupted at it begins anew."""
        for half in [probe for probe in self._begun if probe not in self.up]:
            half.uninstall()
            self._begun.remove(half)
        for kind in PROBES:
            if (self._config.probes and kind.name not in self._config.probes) or kind.name in self._config.without:
                self.off[kind.name] = LEFT_OUT
                continue
            if not self._is_wanted() or any(type(probe) is kind for probe in self.up):
                continue
            probe = kind(self._scene)
            self._begun.append(probe)
            if self._try(probe, probe.install):
                self.up.append(probe)
        if not self._is_wanted():  # stopped meanwhile, by another thread
            for probe in reversed(list(self._begun)):
                probe.uninstall()

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

    def start_afresh(self) -> None:
        """In the child of a fork: what the parent did is forgotten."""
        for probe in self.up:
            probe.start_afresh()

    def finish(self) -> None:
        """In the child of a fork: where another thread was at wrapping, do the rest."""
        if self._begun and not self.is_installed:
            self.imported()

    def turned_off(self) -> None:
        """The level is off: count nothing more."""
        for probe in self.up:
            probe.turned_off()

    # -- reading and asking

    def read(self) -> None:
        """Have each write into the ledger what can only be seen by looking."""
        for probe in self.up:
            try:
                probe.read()
            except Exception:
                guard.failed("read of " + probe.name)

    def ask(self, question: Callable[[Probe], Iterable[Answer]]) -> List[Answer]:
        """What all of them answer to one of the questions in `probes/questions.py`."""
        answers: List[Answer] = []
        for probe in self.up:
            try:
                answers += question(probe)
            except Exception:
                guard.failed("asking " + probe.name)
        return answers

    def operations(self) -> Optional[int]:
        """How many there are in the graphs that sessions have run; None where nobody counts them."""
        counts = self.ask(lambda probe: [probe.operations()])
        return next((count for count in counts if count is not None), None)


def _is_loaded(name: str) -> bool:
    """Whether a module has been imported to its end."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)
