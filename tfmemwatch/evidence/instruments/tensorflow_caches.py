"""TensorFlow's caches, emptied where that is allowed: what each gives back."""

from __future__ import annotations

from typing import Callable, Dict, Optional

from ..schedule import LOOKS


class TensorFlowCaches:
    """Costs the program what it takes to fill them again; only where `evidence='active'` allows it."""

    def __init__(self, empty: Optional[Callable[[], Dict[str, int]]]) -> None:
        self._empty = empty
        self.working_sets: Dict[str, int] = {}
        self.emptied_at = LOOKS // 4

    @property
    def is_allowed(self) -> bool:
        """Whether they may be emptied."""
        return self._empty is not None

    def open(self) -> None:
        """Empty them: an inquiry begins."""
        self.emptied_at = LOOKS // 4
        if self._empty is not None:
            self._empty()

    def look(self) -> None:
        """Empty them after a quarter of the looks: what they give back is what the program works with."""
        if self._empty is not None:
            self.working_sets = self._empty()

    def again(self, looks: int) -> Dict[str, int]:
        """Empty them again: what each gives back."""
        self.emptied_at = looks
        return self._empty() if self._empty is not None else {}

    def close(self) -> None:
        """Nothing is held."""
