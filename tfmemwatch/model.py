"""The values that flow: a site, a finding, what a probe reads. Plain, and without TensorFlow."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple, Optional, Tuple

from . import html
from .units import bytes_pace_of, count_of, pace_of, since_of, size_of


class Site(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int
    function: str

    @property
    def short(self) -> str:
        """`train.py:41 step()`, as a person would say it."""
        if not self.line:
            return self.function
        call = self.function if self.function.startswith("<") else self.function + "()"
        cell = _cell_of(self.file)
        if cell is not None:
            return ("cell [%d], line %d" % (cell, self.line)) + ("" if call == "<module>" else " " + call)
        name = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        return "%s:%d %s" % (name, self.line, call)


def _cell_of(file: str) -> Optional[int]:
    """The number of the notebook's cell that IPython has compiled as this file."""
    found = _CELL.match(file)
    if found is not None:
        return int(found.group(1))
    shell = getattr(sys.modules.get("IPython.core.interactiveshell"), "InteractiveShell", None)
    compiler = getattr(getattr(shell, "_instance", None), "compile", None)
    cells = getattr(compiler, "_filename_map", None)
    cell = cells.get(file) if type(cells) is dict else None
    return cell if type(cell) is int else None


_CELL = re.compile(r"<ipython-input-(\d+)-\w+>$")


LEAK, RETAINED, FILLING = "leak", "retained by the allocator", "cache still filling"  # what a growth comes to
UNKNOWN = Site("", 0, "<unknown line>")
OTHER = Site("", 0, "<other lines>")  # what no longer fits into a bounded table
STILL_STARTING = 20  # modules imported between two looks, by which a program has not yet begun its work


class Key(NamedTuple):
    """What one series counts: a kind of thing, made at one line."""

    kind: str
    site: Site


class Tally(NamedTuple):
    """What has happened at one line: an immutable reading of the ledger."""

    key: Key
    born: int
    died: int
    live_bytes: int
    bytes: int
    seconds: float
    order: int  # position of the first event among all first events: causes come before effects
    note: str
    stack: Tuple[Site, ...]

    @property
    def alive(self) -> int:
        """How many there are now."""
        return self.born - self.died


class Finding(NamedTuple):
    """What grows, how fast, where, why, and what to do about it."""

    kind: str
    site: Site
    since: float  # step of the block, or seconds since the watch began
    grown: int  # how many more there are than when it began
    rate: float  # how many more in a step, or in an hour
    per: str  # "step" or "hour"
    bytes: int  # retained so far, as far as known
    verdict: str  # LEAK, RETAINED or FILLING
    cause: str
    cure: str
    confidence: float
    holder: str = ""
    stack: Tuple[Site, ...] = ()
    more: str = ""  # which level would tell more
    state: str = "leak"  # leak, or over
    outlook: str = ""  # when the nearest limit is reached at this rate, where bytes grow and that can be told
    why: str = ""  # what differs from time to time
    differs: str = ""  # the same without numbers: by the arguments' names alone, and as long as it is the same
    examples: Tuple[str, ...] = ()  # of that, as it was the last time
    suggestion: str = ""  # code for the user's own function
    short: str = ""  # the same in a few words, for one line
    trail: Tuple[float, ...] = ()  # how the count went, in a few points
    known: str = ""  # the issue in which others met it
    began: float = 0.0  # when, in Unix time, where it is looked at by the clock
    leaves: float = 0.0  # bytes in a step, or in an hour, where no count tells it
    counted: str = ""  # what `grown` counts, where that is not what the cause names

    @property
    def is_sure(self) -> bool:
        """Whether it is worth a warning: not while it may be a cache that still fills."""
        return self.verdict != FILLING

    @property
    def bytes_rate(self) -> float:
        """By how many bytes it grows in a step, or in an hour; 0 where that is not known."""
        return self.leaves or (self.bytes * self.rate / self.grown if self.grown else 0.0)

    @property
    def gained(self) -> str:
        """How many more there are, and of what, where that is not what the cause names."""
        return " ".join(filter(None, (count_of(self.grown), self.counted)))

    @property
    def story(self) -> Tuple[str, Site]:
        """What makes two findings the same one."""
        return (self.kind, self.site)

    def _repr_html_(self) -> str:
        return html.piece(self.html())

    def html(self) -> str:
        """As a part of what a notebook or a page shows."""
        grown = "+%s%s" % (self.gained, pace_of(self.rate, self.per)) if self.grown else ""
        kept = "%s kept" % size_of(self.bytes) if self.bytes >= 1024 else ""
        held = "held by " + self.holder if self.holder not in self.cause else ""
        amount = "; ".join(filter(None, (grown, since_of(self.since, self.per, self.began), kept, held)))
        return '<div class="leak">%s</div>' % "".join(
            [
                "<p><strong>%s</strong> <code>%s</code></p>" % (html.text(self.kind), html.text(self.site.short)),
                *map(html.line, filter(None, (self.cause, amount, self.why, self.outlook))),
                html.line("Cure: " + self.cure),
                html.code(self.suggestion),
                *map(html.line, filter(None, (self.known,))),
            ]
        )

    def __str__(self) -> str:
        parts = ["%s: %s" % (self.site.short, self.cause)]
        if self.grown:
            parts.append("+%s so far%s" % (self.gained, pace_of(self.rate, self.per)))
        elif self.bytes_rate >= 1:
            parts.append("+" + bytes_pace_of(self.bytes_rate, self.per))
        if self.began:
            parts.append(since_of(self.since, self.per, self.began))
        if self.bytes >= 1024:
            parts.append("%s kept" % size_of(self.bytes))
        if self.holder not in self.cause:
            parts.append("held by %s" % self.holder)
        if self.outlook:
            parts.append(self.outlook)
        text = "; ".join(parts) + ". "
        if self.why:
            text += self.why + ". "
        text += "Cure: %s." % self.short if self.short else self.cure  # the general one is in the report
        if self.known:
            text += " " + self.known
        if len(self.stack) > 1:
            text += " Called by %s." % " ← ".join(site.short for site in self.stack[1:])
        if self.verdict == FILLING:
            text += " (May be a %s; tfmemwatch looks again.)" % self.verdict
        elif self.verdict != LEAK:
            text += " (%s)" % self.verdict
        if self.more:
            text += " [%s]" % self.more
        return text
