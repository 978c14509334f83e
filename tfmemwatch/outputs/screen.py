"""A report as the lines of a terminal of any size: what `tfmemwatch live` draws. Values in, lines out."""

from __future__ import annotations

import textwrap
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from ..catalog import BY_KIND
from ..growth.history import plot
from ..headline import CLEAN, LEAK
from ..memory.forecast import span_of
from ..model import Finding
from ..reports import Made, Report
from ..units import count_of, pace_of, size_of

SORTS = ("growth", "number", "name")
KEYS = "q quit  p pause  s sort  ↑↓ scroll  h help"
HELP = (
    "Keys", "", "  q, Esc    quit", "  p         pause: nothing is read until it is pressed again",
    "  s         sort what is alive by growth, number or name", "  ↑ ↓, j k  scroll",
    "  space     read now", "  h, ?      this help, or back", "",
    "What grows is since this view began, with its last minutes as a small plot.",
)  # fmt: skip
_WIDE_PLOT = 16
Trails = Mapping[Tuple[str, str], Sequence[float]]


class Look(NamedTuple):
    """What is to be drawn."""

    report: Report
    state: str  # how old it is, or why nothing new comes
    resident: Sequence[float]  # how they went since this view began
    in_use: Sequence[float]
    alive: Trails  # by kind and line
    sort: str = SORTS[0]
    first: int = 0  # line of the body
    is_paused: bool = False
    is_help: bool = False
    is_failing: bool = False  # `state` says why nothing new comes


class Line(NamedTuple):
    """One line, and its colour."""

    text: str
    colour: str = ""


def screen(look: Look, wide: int, high: int) -> List[Line]:
    """So many lines at most, none wider than that."""
    head, body = _head(look), [Line(text) for text in HELP] if look.is_help else _body(look, wide)
    room = max(0, high - len(head) - 1)
    first = max(0, min(look.first, len(body) - room))
    shown = body[first : first + room]
    left = len(body) - first - len(shown)
    foot = KEYS + ("  · %d more below" % left if left > 0 else "")
    lines = [*head, *shown, *[Line("")] * (room - len(shown)), Line(foot, "dim")]
    return [Line(_clipped(line.text, wide), line.colour) for line in lines[:high]]


def _clipped(text: str, wide: int) -> str:
    return text if len(text) <= wide else text[: max(0, wide - 1)] + "…"


def _head(look: Look) -> List[Line]:
    report = look.report
    state = "paused" if look.is_paused else look.state
    lines = [Line("tfmemwatch · %s%s" % (report.title, " · " + state if state and not look.is_failing else ""), "bold")]
    if look.is_failing:
        lines.append(Line(look.state, "red"))
    if report.level and report.level != "sites":
        lines.append(Line("level %s%s" % (report.level, ": " + report.level_why if report.level_why else "")))
    resident = report.memory.resident_bytes
    limit = report.limit
    if resident is None:
        lines.append(Line("resident  not known"))
    elif limit is None or not limit.bytes:
        lines.append(Line("resident  %-9s %s" % (size_of(resident), plot(look.resident, _WIDE_PLOT))))
    else:
        share = min(1.0, max(0.0, 1 - limit.left_bytes / limit.bytes))
        bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
        what = (size_of(resident), bar, 100 * share, limit.name, size_of(limit.bytes))
        lines.append(Line("resident  %-9s %s %3.0f %% of the %s, %s" % what, "red" if share > 0.9 else ""))
    if report.memory.in_use_bytes is not None:
        words = [size_of(report.memory.in_use_bytes), plot(look.in_use, _WIDE_PLOT), report.rise]
        lines.append(Line("in use    " + "  ".join(filter(None, words))))
    if report.outlook is not None:
        lines.append(Line("          " + str(report.outlook), "red"))
    return [*lines, Line("")]


def _body(look: Look, wide: int) -> List[Line]:
    return [*_findings(look.report, wide), Line(""), *_alive(look, wide), *_traces(look.report)]


def _wrapped(text: str, wide: int, colour: str = "") -> List[Line]:
    """In so many lines, the next ones further in."""
    inner = " " * (len(text) - len(text.lstrip()) + 2)
    lines = textwrap.wrap(text, max(20, wide), subsequent_indent=inner, break_on_hyphens=False)
    return [Line(line, colour) for line in lines]


def _findings(report: Report, wide: int) -> List[Line]:
    told = report.headline
    lines = _wrapped(told.sentence, wide, {LEAK: "red", CLEAN: "green"}.get(told.word, "bold"))
    lines += _wrapped("  " + told.why, wide) if told.why else []
    for finding in report.findings:
        lines += _finding(finding, wide)
    return lines


def _finding(finding: Finding, wide: int) -> List[Line]:
    grown = "+%s%s" % (finding.gained, pace_of(finding.rate, finding.per)) if finding.grown else "growing"
    kept = "%s kept" % size_of(finding.bytes) if finding.bytes >= 1024 else ""
    unsure = "" if finding.is_sure else "(may be a %s)" % finding.verdict
    amount = "  ".join(filter(None, (grown, kept, plot(finding.trail, _WIDE_PLOT), unsure)))
    return [
        *_wrapped("  %s  %s  %s" % (finding.kind, finding.site.short, amount), wide, "red" if finding.is_sure else ""),
        *_wrapped("      " + (finding.why or finding.cause), wide),
        *_wrapped("      → " + (finding.short or finding.cure), wide, "green"),
    ]


def _alive(look: Look, wide: int) -> List[Line]:
    rows = [(row, look.alive.get(key_of(row), (row.alive,))) for row in look.report.made if row.alive > 0]
    if not rows:
        return []
    rows.sort(key=_ORDERS[look.sort])
    room = max(20, wide - 58)
    layout = "  %%-18s %%-%ds %%9s %%9s  %%s" % room
    lines = [Line(layout % ("alive, by " + look.sort, "line", "alive", "more", ""), "dim")]
    for row, trail in rows:
        more = trail[-1] - trail[0]
        numbers = (count_of(row.alive), "%+d" % more if more else "", plot(trail, _WIDE_PLOT))
        name = (_clipped(_title(row), 18), _clipped(row.site.short, room))
        lines.append(Line((layout % (*name, *numbers)).rstrip()))
    return lines


_Row = Tuple[Made, Sequence[float]]
_ORDERS: Dict[str, Callable[[_Row], Any]] = {
    "growth": lambda row: (row[1][0] - row[1][-1], -row[0].alive),
    "number": lambda row: -row[0].alive,
    "name": lambda row: (_title(row[0]), row[0].site),
}


def key_of(row: Made) -> Tuple[str, str]:
    """Under which its trail is kept."""
    return row.kind, row.site.short


def _title(row: Made) -> str:
    known = BY_KIND.get(row.kind)
    return known.title if known is not None else row.kind


def _traces(report: Report) -> List[Line]:
    if not report.traces:
        return []
    lines = [Line(""), Line("  traces", "dim")]
    for row in report.traces:
        what = ("retraced" if row.is_retrace else "traced", count_of(row.times), row.function, row.site.short)
        lines.append(Line("  %-8s %6s×  %s  %s, %.2g s" % (*what, row.seconds)))
    return lines


def age_of(seconds: float) -> str:
    """How old what is shown is."""
    return "now" if seconds < 2 else "%s ago" % span_of(seconds)
