"""What the watch asks its probes. A probe answers what it knows; the rest stays as it is here."""

from __future__ import annotations

from typing import Any, Collection, Optional, Sequence, Tuple

from ..explain.baked_in import BakedIn
from ..growth.per_call import GrowthPerCall
from ..model import Finding, Site
from ..reports import Calls, RetraceCause


class Questions:
    """Every question, with the answer of a probe that knows nothing of it."""

    def news(self) -> Sequence[Finding]:
        """What this probe has to say by itself, each once."""
        return ()

    def explained(self, finding: Finding) -> Finding:
        """The finding, with what this probe knows of why it came about."""
        return finding

    def retrace_causes(self) -> Sequence[RetraceCause]:
        """Why functions were traced again, counted."""
        return ()

    def endless_retraces(self) -> Sequence[Site]:
        """Lines that trace a function again and again for what has no end."""
        return ()

    def baked_in(self) -> Sequence[BakedIn]:
        """What traces hold on to: Python state that has changed since, and large data baked in as constants."""
        return ()

    def traces_of(self, model: Any) -> int:
        """How often the functions of a model were traced."""
        return 0

    def calls(self) -> Sequence[Calls]:
        """How each living model has been called."""
        return ()

    def called_models(self) -> Sequence[Any]:
        """Weak references to the models that were called, those from before the watch among them."""
        return ()

    def grown_by_calls(self, model: Any) -> int:
        """What memory in use gained over the calls of a model."""
        return 0

    def call_growth(self) -> Sequence[Tuple[Site, str, GrowthPerCall]]:
        """Of models that were called often enough: the line, what was called, and what the calls have left."""
        return ()

    def operations(self) -> Optional[int]:
        """How many operations there are in the graphs that sessions have run."""
        return None

    def recording(self, seconds: float) -> Sequence[Site]:
        """Where the tapes were opened that have recorded for so long, the oldest first."""
        return ()

    def tapes(self) -> Collection[int]:
        """The ids of all tapes that were seen, and that live."""
        return ()
