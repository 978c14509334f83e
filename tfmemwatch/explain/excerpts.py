"""The lines of source around a line, to be shown with it."""

from __future__ import annotations

import linecache
import os
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ..model import Site

_AROUND = 4  # lines on either side
_MOST, _MOST_CHARACTERS = 12, 240  # excerpts; characters of a line


class Excerpt(NamedTuple):
    """Some lines of a file."""

    file: str
    line: int  # which they are about
    first: int  # the number of the first of them
    lines: Tuple[str, ...]
    is_newer: bool = False  # the file has changed since the program began: these may be others than those that run


def excerpts(sites: Iterable[Site], began: float) -> Tuple[Excerpt, ...]:
    """The lines around each of these, as far as their files can be read; `began` is when the program did."""
    found: List[Excerpt] = []
    changed: Dict[str, float] = {}  # many are of one file, and a file system may be far away
    for site in dict.fromkeys((site.file, site.line) for site in sites):
        if len(found) >= _MOST:
            break
        excerpt = _excerpt(site[0], site[1], began, changed)
        if excerpt is not None:
            found.append(excerpt)
    return tuple(found)


def _excerpt(file: str, line: int, began: float, changed: Dict[str, float]) -> Optional[Excerpt]:
    lines = linecache.getlines(file) if line else []
    if not 0 < line <= len(lines):
        return None
    first = max(1, line - _AROUND)
    shown = tuple(text.rstrip()[:_MOST_CHARACTERS] for text in lines[first - 1 : line + _AROUND])
    if file not in changed:
        changed[file] = _changed(file)
    return Excerpt(file, line, first, shown, changed[file] > began)


def _changed(file: str) -> float:
    try:
        return os.stat(file).st_mtime
    except OSError:  # a cell of a notebook, or gone
        return 0.0
