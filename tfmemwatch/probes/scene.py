"""What every probe works with: where it writes down, how closely it looks, and its patches."""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import guard, site, tfapi
from ..ledger import Ledger
from ..memory import Process
from ..model import UNKNOWN, Site
from ..patch import Patch, Wrapper, undo_all

RANK = {"off": 0, "counts": 1, "sites": 2, "stacks": 3}


class Scene:
    """The ledger, the process and the level, shared by the probes of one watch."""

    def __init__(self, ledger: Ledger, process: Process, level: str) -> None:
        self.ledger = ledger
        self.process = process
        self.rank = RANK[level]

    def where(self) -> Tuple[Site, Tuple[Site, ...]]:
        """The user's line that is running on this thread, as far as the level wants it."""
        if self.rank < 2:
            return UNKNOWN, ()
        frame = sys._getframe(1)
        return site.here(frame), (site.stack(frame) if self.rank > 2 else ())

    def born(
        self, kind: str, thing: Any, sizer: Optional[Callable[[Any], int]] = None, note: str = "", ends: bool = False
    ) -> None:
        """Count a new thing at the line that made it."""
        if self.rank:
            at, stack = self.where()
            self.ledger.born(kind, at, thing, sizer, note, stack, ends)

    def happened(self, kind: str, note: str = "") -> None:
        """Count an event at the line that caused it."""
        if self.rank:
            at, stack = self.where()
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

    def wrap(self, what: str, wrapper: Wrapper) -> None:
        """Wrap a thing of TensorFlow's by its name in `tfapi.PLACES`."""
        place = tfapi.find(what)
        self.patches.append(Patch(place.holder, place.attribute, wrapper))

    def after(self, what: str, note: Callable[[Any, Any, tuple, Dict[str, Any]], None]) -> None:
        """Call `note(result, instance, args, kwargs)` after each call of a thing; it can't hurt the program."""
        where = "%s: %s" % (self.name, what)
        place = tfapi.find(what)
        self.patches.append(Patch(place.holder, place.attribute, noted(note, where)))


def noted(note: Callable[[Any, Any, tuple, Dict[str, Any]], None], where: str) -> Wrapper:
    """A wrapper that calls the original outside the guard and the note inside it."""

    def wrapper(wrapped: Callable[..., Any], instance: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        result = wrapped(*args, **kwargs)
        try:
            note(result, instance, args, kwargs)
        except Exception:
            guard.failed(where)
        return result

    return wrapper
