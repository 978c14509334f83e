"""The collection that keeps things, and the line that fills it."""

from __future__ import annotations

import re
import sys
from typing import Iterable, Optional, Sequence

from . import census, source
from .model import Site
from .site import file_of, is_framework, is_users


def unbounded(holder: Optional[census.Holder]) -> Optional[census.Holder]:
    """The holder, if it can grow for ever: a library that asks for the length of what it keeps has set a bound."""
    if holder is None or holder.bound is not None:
        return None
    if (
        not is_users(holder.module, True)
        and holder.line is None
        and _measures(holder.module, holder.names, holder.owners)
    ):
        return None
    inner = holder.inner
    return None if inner is not None and _measures(inner.module, (inner.name,), inner.owners) else holder


def _measures(module: str, names: Sequence[str], owners: Sequence[str]) -> bool:
    """Whether the source of a library asks how long its collection is."""
    file = file_of(sys.modules.get(module))
    return file != "" and source.measures(names, file, owners)


def may_be_bounded(holder: census.Holder, site: Site) -> bool:
    """Whether the program takes things out again somewhere, or keeps them from becoming too many."""
    return source.may_bound(holder.names, site.file, holder.owners)


def line_for(holder: census.Holder, near: Iterable[Site] = ()) -> Optional[Site]:
    """The line that fills a collection: in the class that owns it, or near what was seen to run, or anywhere."""
    if holder.line is not None:
        return Site(*holder.line)
    first = file_of(sys.modules.get(holder.module))
    files = source.project_files([first] if first else [])
    functions = {(site.file, site.function) for site in near}
    for anyhow in (False, True) if holder.is_within else (False,):
        found = [
            ((_steps_up(line.owner, holder.owners), line.site.file != first, rank, line.is_inside != holder.is_nested,
              (line.site.file, line.site.function) not in functions), line.site)
            for rank, name in enumerate(holder.names)
            for line in source.putting_into(name, files, anyhow)
        ]  # fmt: skip
        if found:
            return min(found, key=lambda row: row[0])[1]
    if is_users(holder.module, True) or is_framework(holder.module):
        return None
    calls = source.using(holder.module.split(".")[0], files)  # a collection inside a library: who calls that library?
    calls.sort(key=lambda site: (site.file, site.function) not in functions)
    return calls[0] if calls else None


def _steps_up(owner: str, owners: Sequence[str]) -> int:
    """How far up among the classes of an object one of them is; none of them is the farthest."""
    return owners.index(owner) if owner in owners else len(owners)


def line_of_names(names: Sequence[str], near: Iterable[Site] = (), attributes_only: bool = False) -> Optional[Site]:
    """The line that puts something into the first of these names for which there is one, or gives it a new value."""
    files = source.project_files()
    near = list(near)
    for anyhow in (False, True):
        for name in names:
            lines = [line.site for line in source.putting_into(name, files, anyhow)]
            lines = lines or source.renewing(name, files, attributes_only)
            if lines:
                return _nearest(lines, near)
    return None


def _nearest(lines: Iterable[Site], near: Iterable[Site]) -> Site:
    """The first of them that stands in a function of lines that were seen to run."""
    functions = {(site.file, site.function) for site in near}
    return min(lines, key=lambda site: (site.file, site.function) not in functions)


def line_on(way: str, near: Iterable[Site] = ()) -> Optional[Site]:
    """The line that makes a chain of objects longer, of which the way to one is known: `self.head → prev → Tensor`."""
    linked = re.search(r"\.(\w+)…", way)  # a chain: `.parent.parent.parent`
    if linked is not None:
        files = source.project_files()
        lines = source.renewing(linked.group(1), files, True) or source.making(linked.group(1), files)
        if lines:
            return _nearest(lines, near)
    steps = [re.sub(r" (\(.*?\)|of .*\(\).*)$", "", step) for step in way.split(" → ")[:-1]]
    named = [re.findall(r"[A-Za-z_]\w*", step) for step in steps]
    attributes = [name for names in named for name in names[:0:-1]] + [names[0] for names in named[1:] if names]
    root = named[0][:1] if named else []
    return line_of_names(attributes, near, attributes_only=True) or line_of_names(root, near)


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
