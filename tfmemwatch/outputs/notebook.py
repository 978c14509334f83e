"""A report as a notebook shows it: what was found, made, kept and traced; short, and every text escaped."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from .. import html
from ..catalog import BY_KIND
from ..memory.account import TITLES, change_of
from ..memory.process import Memory
from ..reports import Report
from ..units import count_of, size_of

_MOST_ROWS = 8


def of_report(report: Report, kept: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """The whole of it, in a few tables; what collections have `kept` stands above them, `notes` below."""
    found = _findings(report, kept)
    tables = (_made(report), _traced(report), _memory(report))
    return html.piece(html.heading(report.title), *found, *tables, *(html.line(note, "dim") for note in notes))


def _findings(report: Report, kept: Sequence[str]) -> List[str]:
    if report.findings or kept:
        return [*(finding.html() for finding in report.findings), *(html.line(one, "leak") for one in kept)]
    if report.level == "off":
        return [html.line("Nothing is watched at this level.")]
    stays = sum(row.alive for row in report.made if row.alive > 0)
    if report.is_of_block and stays:
        return [html.line("Nothing was seen to grow again and again; %s things stay." % count_of(stays), "fine")]
    return [html.line("Nothing that is watched leaks.", "fine")]


def _made(report: Report) -> str:
    rows = [
        (BY_KIND[row.kind].title, row.site.short, count_of(row.made), count_of(row.freed), "%+d" % row.alive,
         size_of(row.bytes) if row.bytes > 0 else "")
        for row in report.made[:_MOST_ROWS]
    ]  # fmt: skip
    more = _more(len(report.made))
    return html.table(("Made", "line", "made", "freed", "stay", "weigh"), rows, numbers=(2, 3, 4, 5)) + more


def _traced(report: Report) -> str:
    why = {(row.function, row.site): "%s: %s" % (row.argument, row.cause) for row in report.retrace_causes}
    rows = [
        ("again" if row.is_retrace else "first", row.function, row.site.short, count_of(row.times),
         "%.2g s" % row.seconds, why.get((row.function, row.site), "") if row.is_retrace else "")
        for row in report.traces[:_MOST_ROWS]
    ]  # fmt: skip
    return html.table(("Traced", "function", "line", "times", "took", "why"), rows, numbers=(3, 4)) + _more(
        len(report.traces)
    )


def _memory(report: Report) -> str:
    rows: List[Tuple[str, int, Optional[int]]]
    if report.account is not None and report.account_before is not None and report.account.of("numpy"):
        changes = report.account.less(report.account_before)
        rows = [(TITLES[name], report.account.of(name), report.account.of(name) - more)
                for name, more in sorted(changes.items(), key=lambda row: -row[1])[:_MOST_ROWS]]  # fmt: skip
    else:
        rows = list(_readings(report.memory_before, report.memory))
    cells = [
        (name, size_of(now), change_of(now - then) if then is not None and now != then else "")
        for name, now, then in rows
    ]
    verdict = report.verdict
    said = "%s: %s" % verdict if verdict is not None and verdict.word and not report.findings else ""
    return html.table(("Memory", "now", "change"), cells, numbers=(1, 2)) + (html.line(said, "dim") if said else "")


def _readings(before: Optional[Memory], after: Memory) -> Sequence[Tuple[str, int, Optional[int]]]:
    found = []
    for name, field in (("resident", "resident_bytes"), ("in use", "held_bytes")):
        now = getattr(after, field)
        if now is not None:
            found.append((name, now, getattr(before, field) if before is not None else None))
    return found


def _more(number: int) -> str:
    return html.line("… and %d more" % (number - _MOST_ROWS), "dim") if number > _MOST_ROWS else ""
