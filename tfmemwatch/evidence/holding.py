"""What is known of a collection from its names and the source: who holds it, what fills it, whether it has a bound."""

from __future__ import annotations

import sys
from typing import Optional, Sequence

from ..explain.bounds import takes_out
from ..explain.evictions import largest_number
from ..holders.bounds import may_be_bounded, renewed_on, unbounded
from ..holders.filling_line import line_for
from ..holders.names import Holder, holder_at
from ..holders.search import Way
from ..holders.steps import length_at
from ..ledger.site import file_of, is_framework, is_users
from ..model import UNKNOWN, Site
from .evidence import Holding


def holding_at(way: Way, near: Sequence[Site] = (), with_bound: bool = True) -> Optional[Holding]:
    """The collection at the end of a way, and the line that fills it if nothing is known to bound it."""
    named = holder_at(way)
    if named is None:
        return None
    holder = unbounded(named)
    if holder is None:
        return Holding(named.path, is_bounded=True, way=way)
    line = line_for(holder, near) or UNKNOWN
    is_librarys = holder.is_within or not is_users(holder.module, True)
    is_asked = not (line == UNKNOWN and is_librarys)
    renewed = list(renewed_on(way)) if is_asked else []
    may_be = with_bound and is_asked and (bool(renewed) or may_be_bounded(holder, line))
    known = [(holder, line.file), *((one, file_of(sys.modules.get(one.module))) for one in renewed)] if is_asked else []
    numbers = [largest_number(_own_names(one), file, one.owners) for one, file in known]
    return Holding(
        holder.path, line, may_be_bounded=may_be,
        may_be_kept_at=max(numbers, default=0),
        is_taken_from=may_be and takes_out(holder.names[:1], line.file, holder.owners),
        is_cache=holder.line is not None, is_librarys=is_librarys, is_frameworks=is_framework(holder.module),
        way=way, length=length_at(way) or 0,
    )  # fmt: skip


def _own_names(holder: Holder) -> Sequence[str]:
    """Its own name, and not that of a collection that holds it: a number that bounds this one does not bound it."""
    return () if holder.is_nested and len(holder.names) < 2 else holder.names[:1]
