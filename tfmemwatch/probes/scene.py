"""What every probe works with: where it writes down, how closely it looks, and its patches."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Callable, List, Optional, Tuple

from .. import guard, site, tfapi
from ..ledger import Ledger, Place
from ..memory import Process
from ..model import UNKNOWN, Site
from ..patch import Make, Patch, undo_all

RANK = {"off": 0, "counts": 1, "sites": 2, "stacks": 3}


class Scene:
    """The ledger, the process and the level, shared by the probes of one watch."""

    def __init__(self, ledger: Ledger, process: Process, level: str) -> None:
        self.ledger = ledger
        self.process = process
        self.rank = RANK[level]

    def where(self, frame: FrameType, makes: bool = False) -> Tuple[Place, Tuple[Site, ...]]:
        """The user's line that is running in a frame or above it, as far as the level wants it."""
        rank = self.rank
        if rank < 2:
            return UNKNOWN, ()
        return site.place(frame, makes), (site.stack(frame) if rank > 2 else ())

    def born(
        self, kind: str, thing: Any, sizer: Optional[Callable[[Any], int]] = None, note: str = "",
        ends: bool = False, makes: bool = False,
    ) -> None:  # fmt: skip
        """Count a new thing at the line that made it."""
        if self.rank:
            at, stack = self.where(sys._getframe(1), makes)
            self.ledger.born(kind, at, thing, sizer, note, stack, ends)

    def happened(self, kind: str, note: str = "") -> None:
        """Count an event at the line that caused it."""
        if self.rank:
            at, stack = self.where(sys._getframe(1))
            self.ledger.happened(kind, at, note=note, stack=stack)


class Probe:
    """Sees one way of growing. `install` patches what it needs, `uninstall` leaves no trace."""

    name = ""
    watches = ""  # one sentence for `doctor`

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.patches: List[Patch] = []

    def install(self) -> None:
        """Wrap what TensorFlow has; Unavailable where it has nothing to wrap."""
        raise NotImplementedError

    def install_keras(self) -> None:
        """Wrap what belongs to Keras, each time another Keras has been imported."""

    def uninstall(self) -> None:
        """Put everything back."""
        undo_all(self.patches)

    def start_afresh(self) -> None:
        """Forget what a parent process did: for the child of a fork."""

    def read(self) -> None:
        """Write into the ledger what can only be seen by looking; called for every sample."""

    def wrap(self, what: str, make: Make) -> None:
        """Wrap a thing of TensorFlow's by its name in `tfapi.PLACES`."""
        place = tfapi.find(what)
        self.patches.append(Patch(place.holder, place.attribute, make))

    def after(self, what: str, note: Callable[..., None]) -> None:
        """Call `note(result, *args, **kwargs)` after each call of a thing; it can't hurt the program."""
        self.wrap(what, noted(note, "%s: %s" % (self.name, what)))

    def after_method(self, what: str, note: Callable[[Any], None]) -> None:
        """Call `note(instance)` after each call of a method: for what is made often."""
        self.wrap(what, quickly(note, "%s: %s" % (self.name, what)))


def quickly(note: Callable[[Any], None], where: str) -> Make:
    """Calls the original outside the guard, and the note on the instance inside it."""

    def make(original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        def seam(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            if patch.is_live:
                try:
                    note(self)
                except Exception:
                    guard.failed(where)
            return result

        return seam

    return make


def noted(note: Callable[..., None], where: str) -> Make:
    """Calls the original outside the guard, and the note on result and arguments inside it."""

    def make(original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        def seam(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if patch.is_live:
                try:
                    note(result, *args, **kwargs)
                except Exception:
                    guard.failed(where)
            return result

        return seam

    return make
