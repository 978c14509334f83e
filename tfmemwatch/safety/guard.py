"""Our mistakes never become the application's.

What belongs to the process lives here: how often each place of ours has failed, what ours take, and the one logger.
"""

from __future__ import annotations

from typing import Dict, List

from .logger import Logger

logger = Logger()

failures: Dict[str, int] = {}  # bounded by the places in this package that call `failed`
spent: Dict[str, float] = {}  # seconds in the hooks of each place; threads may lose some of each other's
disturbances: List[int] = [0]  # times that the watch itself has taken or given back some megabytes


def disturbed() -> None:
    """The watch takes or gives back megabytes now: readings of memory before and after can't be compared."""
    disturbances[0] += 1


def failed(where: str) -> None:
    """Count the exception being handled and log it once for each place."""
    try:
        seen = failures.get(where, 0)
        failures[where] = seen + 1
        if not seen:
            logger.warning("tfmemwatch itself failed in %s; the program goes on without it", where, exc_info=True)
    except Exception:
        pass  # a logging handler of the application that raises must not be our gift to it either
