"""The collection that keeps things, and the line that fills it."""

from __future__ import annotations

import re
import sys
from typing import Iterable, List, Optional, Sequence

from . import census, source
from .model import Site
from .site import file_of, is_framework, is_users


def unbounded(holder: Optional[census.Holder]) -> Optional[census.Holder]:
    """The holder, if it can grow for ever: a library that asks for the length of what it keeps has set a bound."""
    if holder is None or holder.bound is not None:
        return None
    if not is_users(holder.module, True) and holder.line is None:
        file = file_of(sys.modules.get(holder.module))
        if file and source.measures(holder.names, file, holder.owners):
            return None
    return holder


def may_be_bounded(holder: census.Holder, site: Site) -> bool:
    """Whether the program takes things out again, or the library's object that it is in asks how many there are."""
    if source.may_bound(holder.names, site.file, holder.owners):
        return True
    inner = holder.inner
    file = file_of(sys.modules.get(inner.module)) if inner is not None else ""
    return inner is not None and bool(file) and source.measures((inner.name,), file, inner.owners)


def line_for(holder: census.Holder, near: Iterable[Site] = ()) -> Optional[Site]:
    """The line that fills a collection: in the class that owns it, or near what was seen to run, or anywhere."""
    if holder.line is not None:
        return Site(*holder.line)
    first = file_of(sys.modules.get(holder.module))
    files = source.project_files([first] if first else [])
    functions = {(site.file, site.function) for site in near}
    for anyhow in (False, True) if holder.is_within else (False,):
        for name in holder.names:
            lines = source.putting_into(name, files, anyhow)
            lines.sort(key=lambda line: (
                holder.owners.index(line.owner) if line.owner in holder.owners else len(holder.owners),
                (line.site.file, line.site.function) not in functions,
            ))  # fmt: skip
            if lines:
                return lines[0].site
    if is_users(holder.module, True) or is_framework(holder.module):
        return None
    calls = source.using(holder.module.split(".")[0], files)  # a collection inside a library: who calls that library?
    calls.sort(key=lambda site: (site.file, site.function) not in functions)
    return calls[0] if calls else None


def line_of_names(names: Sequence[str], near: Iterable[Site] = ()) -> Optional[Site]:
    """The line that gives one of these names a new value or puts something into it, where no collection is known."""
    files = source.project_files()
    functions = {(site.file, site.function) for site in near}
    for name in names:
        lines = [line.site for line in source.putting_into(name, files)] or source.renewing(name, files)
        lines = lines or [line.site for line in source.putting_into(name, files, anyhow=True)]
        lines.sort(key=lambda site: (site.file, site.function) not in functions)
        if lines:
            return lines[0]
    return None


def names_on(way: str) -> List[str]:
    """The names on the way to a thing, those nearest to the program first: `self.head → prev → Tensor`."""
    steps = [re.sub(r" \(.*?\)$", "", step) for step in way.split(" → ")[:-1]]
    return [name for step in steps for name in reversed(re.findall(r"[A-Za-z_]\w*", step))]


class Keeper:
    """Finds the collection that keeps things which are made anew: two looks at all that has a length."""

    _LOOKS = 8

    def __init__(self) -> None:
        self._before: Optional[census.Census] = None
        self._left = 0
        self._tensor: Optional[type] = None
        self.site: Optional[Site] = None
        self.holder = ""
        self.is_done = False

    def look(self) -> None:
        """Take the first look, or wait for the second."""
        if self.is_done:
            return
        if self._before is None:
            self._before, self._left = census.take(self._tensor), self._LOOKS
            return
        self._left -= 1
        if self._left > 0:
            return
        before, self._before, self.is_done = self._before, None, True
        things = census.grown(before, census.take(self._tensor), 2)
        above = census.Above(things)
        for thing in things:
            holder = unbounded(census.holder_of(thing, above))
            if holder is None or is_framework(holder.module):
                continue
            site = line_for(holder)
            if site is not None:
                self.site, self.holder = site, holder.path
                return
