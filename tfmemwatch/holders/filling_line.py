"""The line that fills a collection, or makes a chain of objects longer."""

from __future__ import annotations

import re
import sys
from typing import Iterable, Optional, Sequence

from ..explain import source
from ..ledger.site import file_of, is_framework, is_users
from ..model import Site
from .names import Holder


def line_for(holder: Holder, near: Iterable[Site] = ()) -> Optional[Site]:
    """The line that fills a collection: in the class that owns it, or near what was seen to run, or anywhere."""
    if holder.line is not None:
        return Site(*holder.line)
    first = file_of(sys.modules.get(holder.module))
    files = source.project_files([first] if first else [])
    functions = {(site.file, site.function) for site in near}
    for anyhow in (False, True) if holder.is_within else (False,):
        found = [
            (
                (
                    _steps_up(line.owner, holder.owners),
                    line.site.file != first,
                    _is_elsewhere(line.site, holder),
                    rank,
                    line.is_inside != holder.is_nested,
                    (line.site.file, line.site.function) not in functions,
                ),
                line.site,
            )
            for rank, name in enumerate(holder.names)
            for line in source.putting_into(name, files, anyhow)
        ]
        if found:
            return min(found, key=lambda row: row[0])[1]
    if is_users(holder.module, True) or is_framework(holder.module):
        return None
    calls = source.using(holder.module.split(".")[0], files)  # a collection inside a library: who calls that library?
    calls.sort(key=lambda site: (site.file, site.function) not in functions)
    return calls[0] if calls else None


def _is_elsewhere(site: Site, holder: Holder) -> bool:
    """Whether a line is in another function than the one whose variable the collection is."""
    return holder.function not in ("", site.function)


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
