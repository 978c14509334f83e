"""Functions to be called at exit: how many more there are."""

from __future__ import annotations

import atexit


class ExitFunctions:
    """Costs nothing: the interpreter counts them."""

    def __init__(self) -> None:
        self._before = 0

    def open(self) -> None:
        """Count them."""
        self._before = _count()

    def look(self) -> int:
        """How many more there are than then."""
        return _count() - self._before

    def close(self) -> None:
        """Nothing is held."""


def _count() -> int:
    return atexit._ncallbacks() if hasattr(atexit, "_ncallbacks") else 0
