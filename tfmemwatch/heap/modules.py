"""What is known of all modules: there are thousands, so it is asked for again only where one has come or gone."""

from __future__ import annotations

import functools
import sys
from array import array
from typing import Callable, List, Tuple, TypeVar

Known = TypeVar("Known")


def of_all_modules(ask: Callable[[], Known]) -> Callable[[], Known]:
    """A function of the modules that there are, which is asked again when these are others."""
    latest: List[Tuple[List[str], array[int], Known]] = []

    @functools.wraps(ask)
    def known() -> Known:
        modules = dict(sys.modules)
        names, ids = list(modules), array("Q", map(id, modules.values()))
        for names_then, ids_then, found in latest[:]:
            if ids_then == ids and names_then == names:
                return found
        found = ask()
        latest[:] = [(names, ids, found)]
        return found

    return known
