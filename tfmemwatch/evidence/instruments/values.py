"""Large plain values with a name (arrays, text, bytes): which of them have grown."""

from __future__ import annotations

from typing import Optional

from .. import large_values


class LargeValues:
    """Costs a search from the program's own names (50 ms of the processor at most) when opened, and when asked."""

    def __init__(self) -> None:
        self._before: large_values.Values = {}

    def open(self) -> None:
        """Measure them."""
        self._before = large_values.large()

    def look(self, least: float) -> Optional[large_values.Value]:
        """The one that has grown most since then, by so many bytes or more."""
        return large_values.grown(self._before, large_values.large(), least)

    def close(self) -> None:
        """Let go of everything."""
        self._before = {}
